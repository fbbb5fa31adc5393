// A header union: making one member valid makes the others invalid.
// packet 0 01 aa
// expect 1 01 aa
// packet 0 02 bbcc
// expect 1 02 cc
// packet 0 03
// expect 1 03
#define OWN_TYPES
#define OWN_PARSER
#include "include/v1.p4"

header kind_h {
    bit<8> kind;
}

header short_h {
    bit<8> x;
}

header long_h {
    bit<16> x;
}

header_union body_u {
    short_h brief;
    long_h  large;
}

struct headers_t {
    kind_h kind;
    body_u body;
}

struct metadata_t { }

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.kind);
        transition select(hdr.kind.kind) {
            1: brief;
            2: large;
            default: accept;
        }
    }
    state brief {
        packet.extract(hdr.body.brief);
        transition accept;
    }
    state large {
        packet.extract(hdr.body.large);
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        if (hdr.body.large.isValid()) {
            bit<8> low = hdr.body.large.x[7:0];
            hdr.body.brief.setValid();
            hdr.body.brief.x = low;
        }
        if (!hdr.body.isValid() && hdr.kind.kind != 3) {
            sm.egress_spec = 2;
        }
        if (hdr.body.brief.isValid() && hdr.body.large.isValid()) {
            sm.egress_spec = 3;
        }
    }
}

#include "include/pipe.p4"
