// Registers whose cells are structs or tuples: one number each, the first field in its highest bits.
// packet 0 0102 0304 00000005
// expect 1 0000 0000 00000000
// packet 0 0607 0809 0000000a
// expect 1 0103 0000 00000304
// expect_register I.pairs 2 0x060809
// expect_register I.tuples 0 0xf
#include "include/v1.p4"

struct pair_t {
    bit<8>  first;
    bit<16> second;
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    register<pair_t>(4) pairs;
    register<tuple<bit<3>, bool>>(1) tuples;
    apply {
        sm.egress_spec = 1;
        pair_t before;
        pairs.read(before, 2);
        pairs.write(2, { hdr.data.a, hdr.data.c });
        tuple<bit<3>, bool> counted;
        tuples.read(counted, 0);
        tuples.write(0, { hdr.data.b[2:0], counted[0] == 2 });
        hdr.data.a = before.first;
        hdr.data.c = 0;
        hdr.data.d = (bit<32>) before.second;
        hdr.data.b = 0;
        if (before.first == 1) {
            hdr.data.b = (bit<8>) counted[0] + (bit<8>) (bit<1>) (counted[0] == 2);
        }
    }
}

#include "include/pipe.p4"
