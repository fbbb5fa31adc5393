// lookahead reads bits and whole headers without moving; advance moves.
// packet 0 1122 3344 55667788 99aa
// expect 1 3344 1155 667788aa
#define OWN_TYPES
#define OWN_PARSER
#include "include/v1.p4"

struct headers_t {
    data_h data;
}

struct metadata_t {
    bit<8> first;
    bit<8> low;
}

header peek_h {
    bit<8> skipped;
    bit<4> high;
    bit<4> low;
}

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        meta.first = packet.lookahead<bit<8>>();
        packet.advance(16);
        peek_h peek = packet.lookahead<peek_h>();
        meta.low = peek.high ++ peek.low;
        packet.extract(hdr.data);
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        // The two bytes skipped are gone.
        hdr.data.d = hdr.data.c ++ hdr.data.d[31:24] ++ 8w0xaa;
        hdr.data.d = 0x667788aa;
        hdr.data.c = meta.first ++ hdr.data.b;
        if (meta.low == 0x44) {
            hdr.data.c = meta.first ++ 8w0x55;
        }
    }
}

#include "include/pipe.p4"
