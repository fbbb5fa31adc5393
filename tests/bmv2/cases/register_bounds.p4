// A register is read at an index that it does not have.
#include "../../../engine/filetests/cases/run/include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    register<bit<32>>(4) cells;
    apply {
        sm.egress_spec = 1;
        cells.read(hdr.data.d, (bit<32>) hdr.data.a);
    }
}

#include "../../../engine/filetests/cases/run/include/pipe.p4"
