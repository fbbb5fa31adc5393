// A stack that a sub-parser gets as `out` starts empty: its next element is the first again.
// packet 0 01 02 0000 0000 00000000
// expect 1 02 0000 0000 00000000
#define OWN_TYPES
#define OWN_PARSER
#include "include/v1.p4"

header tag_h {
    bit<8> id;
}

struct headers_t {
    tag_h[2] tags;
    data_h   data;
}

struct metadata_t { }

parser Tags(packet_in packet, out tag_h[2] tags) {
    state start {
        packet.extract(tags.next);
        transition accept;
    }
}

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    Tags() sub;
    state start {
        packet.extract(hdr.tags.next);
        sub.apply(packet, hdr.tags);
        packet.extract(hdr.data);
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
    }
}

#include "include/pipe.p4"
