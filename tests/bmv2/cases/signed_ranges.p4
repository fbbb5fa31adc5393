// A range of signed numbers, from a negative one to a positive one.
#include "../../../engine/filetests/cases/run/include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    action found(bit<8> value) {
        hdr.data.b = value;
    }
    table t {
        key = { (int<8>) hdr.data.a: range @name("a"); }
        actions = { found; NoAction; }
        default_action = NoAction;
        const entries = {
            -10 .. 5: found(1);
        }
    }
    apply {
        sm.egress_spec = 1;
        t.apply();
    }
}

#include "../../../engine/filetests/cases/run/include/pipe.p4"
