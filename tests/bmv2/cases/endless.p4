// A program that recirculates without end; each pass adds one.
#define OWN_EGRESS
#include "../../../engine/filetests/cases/run/include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = (bit<9>) hdr.data.a;
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    register<bit<32>>(1) passes;
    apply {
        bit<32> n;
        passes.read(n, 0);
        n = n + 1;
        passes.write(0, n);
        hdr.data.d = n;
        if (hdr.data.a == 1) {
            recirculate_preserving_field_list(1);
        }
    }
}

#include "../../../engine/filetests/cases/run/include/pipe.p4"
