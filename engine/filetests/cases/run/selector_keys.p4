// Selector keys choose nothing where the table has no selector: only the other keys count.
// add I.t 1 => I.set(7)
// packet 0 0102 0304 00000000
// expect 1 0702 0304 00000000
#include "include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    action set(bit<8> value) {
        hdr.data.a = value;
    }
    table t {
        key = { hdr.data.c: selector; hdr.data.a: exact; hdr.data.b: selector; }
        actions = { set; NoAction; }
        default_action = NoAction;
    }
    apply {
        sm.egress_spec = 1;
        t.apply();
    }
}

#include "include/pipe.p4"
