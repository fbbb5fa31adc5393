// Stacks of header unions: next, last, static and run-time index, copies, push and pop.
// packet 0 02 01aa 02bbcc
// expect 1 02 01aa 02bbcc aa
// packet 0 02 02bbcc 01aa
// expect 1 02 02bbcc 01aa 00
// packet 0 12 01aa 02bbcc
// expect 1 12 02bbcc 00
// packet 0 22 01aa 02bbcc
// expect 1 22 01aa 00
// packet 0 32 01aa 02bbcc
// expect 1 32 01aa 01ee aa
// packet 0 42 01aa 02bbcc
// expect 1 42 02bbcc 02bbcc 00
// packet 0 03 01aa 01aa 01aa
// expect 2 03 01aa 01aa 01aa
#define OWN_TYPES
#define OWN_PARSER
#include "include/v1.p4"

header count_h {
    bit<4> what;
    bit<4> left;
}

header short_h {
    bit<8> kind;
    bit<8> x;
}

header long_h {
    bit<8>  kind;
    bit<16> x;
}

header_union option_u {
    short_h brief;
    long_h  large;
}

header seen_h {
    bit<8> x;
}

struct headers_t {
    count_h     count;
    option_u[2] options;
    seen_h      seen;
}

struct metadata_t {
    bit<4> left;
    bit<8> last;
}

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.count);
        meta.left = hdr.count.left;
        transition more;
    }
    state more {
        meta.left = meta.left - 1;
        transition select(packet.lookahead<bit<8>>()) {
            1: brief;
            2: large;
        }
    }
    state brief {
        packet.extract(hdr.options.next.brief);
        meta.last = hdr.options.last.brief.x;
        transition next;
    }
    state large {
        packet.extract(hdr.options.next.large);
        meta.last = (bit<8>)hdr.options.lastIndex;
        transition next;
    }
    state next {
        transition select(meta.left) {
            0: accept;
            _: more;
        }
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        if (sm.parser_error == error.StackOutOfBounds) {
            sm.egress_spec = 2;
            exit;
        }
        bit<4> at = 0;
        if (hdr.count.what == 1) {
            hdr.options.pop_front(1);
            at = 1;
        } else if (hdr.count.what == 2) {
            hdr.options.push_front(1);
        } else if (hdr.count.what == 3) {
            at = 1;
            // The other member goes away.
            hdr.options[at].brief = { 1, 0xee };
            hdr.options[at + 7].brief = { 1, 0xdd };
            at = 0;
        } else if (hdr.count.what == 4) {
            at = 1;
            hdr.options[at - 1] = hdr.options[at];
            at = 0;
        }
        hdr.seen.setValid();
        if (hdr.options[at].isValid() && hdr.options[at].brief.isValid()) {
            hdr.seen.x = hdr.options[at].brief.x;
        } else {
            hdr.seen.x = 0;
        }
    }
}

#include "include/pipe.p4"
