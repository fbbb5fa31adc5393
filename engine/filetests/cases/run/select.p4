// select on several values: constants, masks, ranges, default; no match rejects with NoMatch.
// packet 0 0105 0000 00000000
// expect 1 0105 0001 00000000
// packet 0 0180 0000 00000000
// expect 1 0180 0002 00000000
// packet 0 0207 0000 00000000
// expect 1 0207 0003 00000000
// packet 0 0900 0000 00000000
// expect 1 0900 0004 00000000
// packet 0 0800 0000 00000000
// expect 2 0800 0000 00000000
#define OWN_PARSER
#include "include/v1.p4"

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.data);
        transition select(hdr.data.a, hdr.data.b) {
            (1, 0 .. 9): one;
            (1, 0x80 &&& 0x80): two;
            (2, _): three;
            (8w9, 0): four;
        }
    }
    state one {
        meta.y = 1;
        transition accept;
    }
    state two {
        meta.y = 2;
        transition accept;
    }
    state three {
        meta.y = 3;
        transition accept;
    }
    state four {
        meta.y = 4;
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        hdr.data.c = meta.y;
        if (sm.parser_error == error.NoMatch) {
            sm.egress_spec = 2;
        }
    }
}

#include "include/pipe.p4"
