// Arrays of extern objects are checked, and no architecture here runs them.
#include "../run/include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    register<bit<8>>(4) cells[2]; //~ ERROR not supported yet: arrays of extern objects
    apply {
        cells[hdr.data.a & 1].write(0, 1);
    }
}

#include "../run/include/pipe.p4"
