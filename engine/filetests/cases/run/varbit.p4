// A header of variable size.
// packet 0 02 aabb 99
// expect 1 02 aabb 99
// packet 0 00 99
// expect 1 00 99
// packet 0 09 0102030405060708 0a
// expect 2 09 0102030405060708 0a
#define OWN_TYPES
#define OWN_PARSER
#include "include/v1.p4"

header size_h {
    bit<8> size;
}

header options_h {
    varbit<64> data;
}

struct headers_t {
    size_h    size;
    options_h options;
}

struct metadata_t { }

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.size);
        packet.extract(hdr.options, (bit<32>)hdr.size.size * 8);
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        if (sm.parser_error == error.HeaderTooShort) {
            sm.egress_spec = 2;
        }
    }
}

#include "include/pipe.p4"
