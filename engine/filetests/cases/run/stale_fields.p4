// Fields of a header that a packet does not have read as zero in ingress and egress, whatever the packet before
// it had there; so do elements that move within a stack, and variables that a packet does not set.
// packet 0 01 aabb ccdd 11223344 71 72
// expect 1 01 aa bb ccdd 05 71 72 00 aabb ccdd 11223344 71 72
// packet 0 00
// expect 1 00 00 00 0000 00 00 00 00
// packet 0 02 a1b1 c1d1 11223344 73 74
// expect 1 02 00 b1 c1d1 05 74 00 00 a1b1 c1d1 11223344 74
// packet 0 00
// expect 1 00 00 00 0000 00 00 00 00
#define OWN_TYPES
#define OWN_PARSER
#define OWN_EGRESS
#include "include/v1.p4"

header kind_h {
    bit<8> kind;
}

header seen_h {
    bit<8>  a;
    bit<8>  b;
    bit<16> c;
    bit<8>  x;
    bit<8>  first;
    bit<8>  second;
    bit<8>  third;
}

struct headers_t {
    kind_h    kind;
    seen_h    seen;
    data_h    data;
    kind_h[3] tags;
}

struct metadata_t {
    bit<8>  x;
    bit<8>  a;
    bit<16> y;
}

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.kind);
        transition select(hdr.kind.kind) {
            0: accept;
            default: data;
        }
    }
    state data {
        packet.extract(hdr.data);
        packet.extract(hdr.tags[0]);
        packet.extract(hdr.tags[1]);
        meta.x = 5;
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        bit<8> a = hdr.data.a;
        if (hdr.kind.kind == 2) {
            a = meta.a;
            hdr.tags.pop_front(1);
        }
        hdr.seen.setValid();
        hdr.seen.a = a;
        hdr.seen.c = hdr.data.c;
        hdr.seen.third = hdr.tags[2].kind;
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        hdr.seen.b = hdr.data.b;
        hdr.seen.x = meta.x;
        hdr.seen.first = hdr.tags[0].kind;
        hdr.seen.second = hdr.tags[1].kind;
    }
}

#include "include/pipe.p4"
