// Structs inside headers: read, written, copied and compared as wholes and part by part, also at a run-time index.
// packet 0 01 a1b2c3 d4e5f6 01
// expect 1 01 a1b2c3 a1b3c3 ff a1
// packet 0 00 a1b2c3 a1b2c3 00
// expect 1 00 a1b3c3 a1b2c3 00 a1
#define OWN_TYPES
#define OWN_PARSER
#include "include/v1.p4"

struct inner_t {
    bit<4> high;
    bit<4> low;
}

struct cell_t {
    inner_t head;
    bit<8>  mid;
    int<8>  tail;
}

header count_h {
    bit<8> at;
}

header row_h {
    cell_t cell;
}

header end_h {
    bit<8> same;
}

header out_h {
    inner_t seen;
}

struct headers_t {
    count_h  count;
    row_h[2] rows;
    end_h    end;
    out_h    seen;
}

struct metadata_t {
    cell_t saved;
}

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.count);
        packet.extract(hdr.rows.next);
        packet.extract(hdr.rows.next);
        packet.extract(hdr.end);
        meta.saved = hdr.rows[0].cell;
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        bit<8> at = hdr.count.at;
        if (hdr.rows[0] != hdr.rows[1] && hdr.rows[1].cell != meta.saved) {
            hdr.rows[at].cell = meta.saved;
            hdr.end.same = 0xff;
        }
        // Parts of an element that is found at run time.
        inner_t head = hdr.rows[at].cell.head;
        hdr.rows[at].cell.mid[0:0] = 1;
        hdr.seen = { { head.high, head.low } };
        // Past the end: nothing is written.
        hdr.rows[at + 5].cell.mid = 0xee;
    }
}

#include "include/pipe.p4"
