// A table holds all entries of its source, whatever its size says.
// packet 0 0302 0304 00000000
// expect 3 0302 0304 00000000
// packet 0 0102 0304 00000000
// expect 1 0102 0304 00000000
#include "include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    action to(bit<9> port) {
        sm.egress_spec = port;
    }
    table t {
        key = { hdr.data.a: exact; }
        actions = { to; }
        size = 2;
        default_action = to(9);
        const entries = {
            1: to(1);
            2: to(2);
            3: to(3);
        }
    }
    apply {
        t.apply();
    }
}

#include "include/pipe.p4"
