// Arguments for directional parameters, repeated where an action is named again, are those that it is listed with.
#include "../run/include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    bit<8> x = 1;
    bit<8> y = 2;
    action set(inout bit<8> field, bit<8> value) {
        field = value;
    }
    table t {
        key = { hdr.data.a: exact; }
        actions = { set(x); }
        default_action = set(y, 0); //~ ERROR the argument differs from the one in the list of actions
        const entries = {
            1: set(x, 1);
            2: set(y, 2); //~ ERROR the argument differs from the one in the list of actions
        }
    }
    apply {
        t.apply();
        sm.egress_spec = (bit<9>)x + (bit<9>)y;
    }
}

#include "../run/include/pipe.p4"
