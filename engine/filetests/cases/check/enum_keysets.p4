// What is no keyset of an enum, and no `int`.
#include "../run/include/v1.p4"

enum bit<8> kind_t { A = 1, B = 2 }

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    kind_t kind = (kind_t) hdr.data.a;
    table t {
        key = { kind: exact; }
        actions = { NoAction; }
        default_action = NoAction;
        const entries = {
            8w1: NoAction(); //~ ERROR expected `kind_t`, found `bit<8>`
            2: NoAction(); //~ ERROR expected `kind_t`, found `int`
        }
    }
    apply {
        t.apply();
        hdr.data.b = (int) hdr.data.a; //~ ERROR a `bit<8>` that is known only at run time cannot be cast to `int`
    }
}

#include "../run/include/pipe.p4"
