// Keysets of a select that are known at run time only: values, masks, ranges, beside constant ones and in order.
// packet 0 05 05 0000 00000000
// expect 1 05 05 0000 00000000
// packet 0 13 03 0000 00000000
// expect 2 13 03 0000 00000000
// packet 0 07 02 0000 00000000
// expect 3 07 02 0000 00000000
// packet 0 ff 02 0000 00000000
// expect 4 ff 02 0000 00000000
#define OWN_PARSER
#include "include/v1.p4"

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.data);
        transition select(hdr.data.a, hdr.data.c) {
            (0xff, 0): constant;
            (hdr.data.b, _): equal;
            (hdr.data.b &&& 0x0f, 0): masked;
            (hdr.data.b .. hdr.data.b + 5, 0): ranged;
            default: accept;
        }
    }
    state equal {
        meta.x = 1;
        transition accept;
    }
    state masked {
        meta.x = 2;
        transition accept;
    }
    state ranged {
        meta.x = 3;
        transition accept;
    }
    state constant {
        meta.x = 4;
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = (bit<9>)meta.x;
    }
}

#include "include/pipe.p4"
