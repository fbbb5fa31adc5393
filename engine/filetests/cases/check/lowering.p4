// What shows only when the program is put together.
#include "../run/include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    table t {
        key = { hdr.data.a: lpm; }
        actions = { NoAction; }
        default_action = NoAction();
        const entries = {
            0x0f &&& 0x0f: NoAction(); //~ ERROR the mask of an lpm key must be a prefix
        }
    }
    apply {
        sm.egress_spec = 1;
        t.apply();
    }
}

#include "../run/include/pipe.p4"
