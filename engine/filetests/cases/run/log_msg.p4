// The text of log_msg, values filled in, reaches whoever traces.
// packet 0 0102 0003 00000000
// expect_log plain
// expect_log a is 1, c is 3
// expect_log all: 1 2 3 0
// expect_log from egress
// expect 1 0102 0003 00000000
#define OWN_EGRESS
#include "include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        log_msg("plain");
        log_msg("a is {}, c is {}", { hdr.data.a, hdr.data.c });
        log_msg("all: {} {} {} {}", hdr.data);
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        log_msg("from egress");
    }
}

#include "include/pipe.p4"
