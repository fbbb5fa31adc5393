// Structures in the text of log_msg are spelled out, tuples within tuples too; a place without a value stays.
// packet 0 0102 0003 00000000
// expect_log data is (a:1,b:2,c:3,d:0), a is 1, {}
// expect_log tuple (f0:1,f1:3) then 2
// expect_log nested (f0:(f0:1,f1:(a:1,b:2,c:3,d:0)),f1:2) then 3
// expect 1 0102 0003 00000000
#include "include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        log_msg("data is {}, a is {}, {}", { hdr.data, hdr.data.a });
        log_msg("tuple {} then {}", { { hdr.data.a, hdr.data.c }, hdr.data.b });
        log_msg("nested {} then {}", { { { hdr.data.a, hdr.data }, hdr.data.b }, hdr.data.c });
    }
}

#include "include/pipe.p4"
