// No architecture here has functions that give objects.
#include "../run/include/v1.p4"

extern register<bit<8>> made(bit<32> size);

control Holds(inout bit<8> x)(register<bit<8>> cells) {
    apply {
        cells.read(x, 0);
    }
}
control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    Holds(made(4)) holds; //~ ERROR not supported yet: this use of an extern object
    apply {
        holds.apply(hdr.data.a);
    }
}

#include "../run/include/pipe.p4"
