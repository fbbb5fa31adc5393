// Fields of the element that `pop_front` leaves empty.
#define OWN_TYPES
#include "../../../engine/filetests/cases/run/include/v1.p4"

header tag_h {
    bit<8> tag;
}

struct headers_t {
    data_h data;
    tag_h[2] tags;
}

struct metadata_t {}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        hdr.tags[0].setValid();
        hdr.tags[0].tag = 7;
        hdr.tags[1].setValid();
        hdr.tags[1].tag = 8;
        hdr.tags.pop_front(1);
        hdr.data.b = hdr.tags[1].tag;
    }
}

#include "../../../engine/filetests/cases/run/include/pipe.p4"
