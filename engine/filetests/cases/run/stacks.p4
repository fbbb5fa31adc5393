// A header stack: next, last, push, pop, static and dynamic index, overflow.
// packet 0 0111 0222 8333
// expect 1 81ee 0122 0244
// packet 0 8111
// expect 1 81ee
// packet 0 0111 0222 0333 0444 8555
// expect 2 0111 0222 0333 0444 8555
#define OWN_TYPES
#define OWN_PARSER
#include "include/v1.p4"

header label_h {
    bit<1> bottom;
    bit<7> id;
    bit<8> value;
}

struct headers_t {
    label_h[4] labels;
}

struct metadata_t {
    bit<32> count;
}

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.labels.next);
        meta.count = hdr.labels.lastIndex + 1;
        transition select(hdr.labels.last.bottom) {
            1: accept;
            0: start;
        }
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        if (sm.parser_error == error.StackOutOfBounds) {
            sm.egress_spec = 2;
        } else {
            if (meta.count == 3) {
                // 0111 0222 8333 becomes (new) 0111 0222 and the third is dropped.
                hdr.labels.pop_front(2);
                hdr.labels.push_front(2);
                hdr.labels[0] = { 1, 1, 0xee };
                hdr.labels[1].setValid();
                bit<32> at = meta.count - 2;
                hdr.labels[at].bottom = 0;
                hdr.labels[at].id = 1;
                hdr.labels[at].value = 0x22;
                at = at + 1;
                hdr.labels[at] = { 0, 2, hdr.labels[1].value << 1 };
            } else {
                hdr.labels.push_front(1);
                hdr.labels.pop_front(1);
                hdr.labels[0].value = 0xee;
            }
        }
    }
}

#include "include/pipe.p4"
