// v1model's deparser calls what keeps no state, and actions that emit; a drop there touches only its own copy.
// packet 0 01020003 00000000 77
// expect_log a is 1
// expect 1 01020003 00000000 01020003 00000000 77
// packet 0 02020003 00000000 77
// expect_log a is 2
// expect 1 02020003 00000000 77
#define OWN_DEPARSER
#include "include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
    }
}

control D(packet_out packet, in headers_t hdr) {
    standard_metadata_t own;
    bit<16> one;
    bit<16> two;
    bit<8> some;
    action twice(bit<8> wanted) {
        if (hdr.data.a == wanted) {
            packet.emit(hdr.data);
        }
    }
    apply {
        log_msg("a is {}", { hdr.data.a });
        mark_to_drop(own);
        packet.emit(hdr.data);
        // Of equal data, behind what was emitted.
        hash(one, HashAlgorithm.crc16, 16w0, { hdr.data.a }, 16w1000);
        hash(two, HashAlgorithm.crc16, 16w0, { hdr.data.a }, 16w1000);
        random(some, 3, 5);
        assert(some >= 3);
        if (one == two && some <= 5 && own.egress_spec == 511) {
            twice(1);
        }
    }
}

#include "include/pipe.p4"
