// Arrays of numbers, structs and arrays: read and written by constants and at run time, copied, compared, in headers.
// packet 0 02 0a0b0c0d 00 00 00 00
// expect 1 02 0a0b630d 0c 63 22 03
// packet 0 09 0a0b0c0d 00 00 00 00
// expect 1 09 0a0b0c0d 00 00 22 03
#define OWN_TYPES
#define OWN_PARSER
#include "include/v1.p4"

header list_h {
    bit<8>    at;
    bit<8>[4] all;
    bit<8>    old;
    bit<8>    new;
    bit<8>    sum;
    bit<8>    last;
}

struct pair_t {
    bit<8> a;
    bool   b;
}

struct headers_t {
    list_h list;
}

struct metadata_t {
    pair_t[3]      pairs;
    bit<4>[2][3]   grid;
}

const bit<8>[3] TABLE = { 7, 11, 16 };

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.list);
        transition accept;
    }
}

bit<8> total(in bit<8>[3] values) {
    bit<8> sum = 0;
    for (bit<8> each in values) {
        sum = sum + each;
    }
    return sum;
}

void set(inout bit<8> x) {
    x = 0x63;
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        // Past the end nothing is written, and zero is read.
        hdr.list.old = hdr.list.all[hdr.list.at];
        bit<8>[4] copy = hdr.list.all;
        set(hdr.list.all[hdr.list.at]);
        if (copy != hdr.list.all) {
            hdr.list.new = hdr.list.all[hdr.list.at];
        }
        hdr.list.sum = total(TABLE);
        meta.pairs[1] = { 5, true };
        bit<8> one = 1;
        meta.pairs[one].a = meta.pairs[one].a - TABLE[one - 1] + 4;
        meta.grid[one][1] = 1;
        meta.grid[2][one] = meta.grid[1][one];
        if (meta.pairs[1].b && meta.pairs[1].a == 2 && meta.grid[2] == meta.grid[1]) {
            hdr.list.last = meta.pairs[1].a + (bit<8>) meta.grid[2][1];
        }
        hdr.list.last[7:4] = meta.grid[0][one];
    }
}

#include "include/pipe.p4"
