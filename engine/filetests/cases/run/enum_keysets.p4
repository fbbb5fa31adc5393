// Numbers as keysets of an enum that is stored as numbers: in selects, with or without a width.
// packet 0 0102 0000 00000000
// expect 1 0102 0001 00000007
// packet 0 0202 0000 00000000
// expect 1 0202 0002 00000008
// packet 0 1502 0000 00000000
// expect 1 1502 0003 00000000
// packet 0 0402 0000 00000000
// expect 1 0402 0004 00000000
// packet 0 0902 0000 00000000
// expect 1 0902 0000 00000000
#define OWN_PARSER
#include "include/v1.p4"

enum bit<8> kind_t { A = 1, B = 2 }

const int SEVEN = (int) 8w7;
const int LESS = (int) -8s6 + SEVEN;

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.data);
        transition select((kind_t) hdr.data.a) {
            1: one;
            8w2: two;
            0x10 &&& 0xf0: three;
            3 .. 5: four;
            default: accept;
        }
    }
    state one { meta.y = 1; transition accept; }
    state two { meta.y = 2; transition accept; }
    state three { meta.y = 3; transition accept; }
    state four { meta.y = 4; transition accept; }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    kind_t kind = (kind_t) hdr.data.a;
    action set(bit<32> value) {
        hdr.data.d = value;
    }
    table t {
        key = { kind: exact; }
        actions = { set; NoAction; }
        default_action = NoAction;
        const entries = {
            kind_t.A: set(LESS + 6);
            kind_t.B: set(SEVEN + 1);
        }
    }
    apply {
        sm.egress_spec = 1;
        hdr.data.c = meta.y;
        t.apply();
    }
}

#include "include/pipe.p4"
