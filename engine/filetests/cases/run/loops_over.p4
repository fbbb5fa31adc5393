// Loops over lists, stacks and with a variable from outside; what a loop runs over is found before the first round.
// packet 0 01 02 03 04
// expect 1 06 02 03 04 0f 37 07
#define OWN_TYPES
#define OWN_PARSER
#include "include/v1.p4"

header one_h {
    bit<8> x;
}

header sums_h {
    bit<8> list;
    bit<8> range;
    bit<8> last;
}

struct headers_t {
    one_h[4] all;
    sums_h   sums;
}

struct metadata_t { }

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.all.next);
        packet.extract(hdr.all.next);
        packet.extract(hdr.all.next);
        packet.extract(hdr.all.next);
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        hdr.sums.setValid();
        bit<8> sum = 0;
        for (one_h each in hdr.all) {
            if (each.x == 2) {
                continue;
            }
            if (each.x == 4) {
                break;
            }
            // The loop runs over the stack as it was.
            hdr.all[2].x = 100;
            sum = sum + each.x;
        }
        hdr.all[2].x = sum - 1;
        bit<8> two = 2;
        for (bit<8> each in { 1, two, 12 }) {
            two = 5;
            hdr.sums.list = hdr.sums.list + each;
        }
        for (bit<8> at in 1 .. 10) {
            hdr.sums.range = hdr.sums.range + at;
        }
        for (bit<8> each in (list<bit<8>>){ 6, 7 }) {
            hdr.sums.last = each;
        }
        hdr.all[0].x = sum + two - 3;
    }
}

#include "include/pipe.p4"
