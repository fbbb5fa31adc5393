// Fields of variable size: compared by length and bits, copied, given a default.
// packet 0 02 aabb 02 aabb
// expect 1 02 aabb 02 aabb
// packet 0 02 aabb 02 aabc
// expect 2 02 aabb 02 aabc
// packet 0 02 aa00 01 aa
// expect 2 02 aa00 01 aa
// packet 0 00 00
// expect 3 00 00
#define OWN_TYPES
#define OWN_PARSER
#include "include/v1.p4"

header var_h {
    bit<8>     size;
    varbit<64> bytes;
}

struct headers_t {
    var_h a;
    var_h b;
}

struct metadata_t {
    varbit<64> saved;
}

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.a, (bit<32>)packet.lookahead<bit<8>>() << 3);
        meta.saved = hdr.a.bytes;
        packet.extract(hdr.b, (bit<32>)packet.lookahead<bit<8>>() << 3);
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        varbit<64> empty;
        if (hdr.b.bytes == empty) {
            sm.egress_spec = 3;
        } else if (meta.saved == hdr.b.bytes) {
            sm.egress_spec = 1;
        } else if (hdr.b.bytes != meta.saved) {
            sm.egress_spec = 2;
        }
    }
}

#include "include/pipe.p4"
