// Digests carry the values of their fields.
// packet 0 0102 0304 05060708
// expect 1 0102 0304 05060708
// expect_digest learn_t 1 0 0x05060708
// packet 0 0002 0304 05060708
// expect 1 0002 0304 05060708
#include "include/v1.p4"

struct learn_t {
    bit<8>  key;
    bit<9>  port;
    bit<32> value;
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        if (hdr.data.a == 1) {
            digest<learn_t>(1, { hdr.data.a, sm.ingress_port, hdr.data.d });
        }
    }
}

#include "include/pipe.p4"
