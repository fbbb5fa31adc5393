// A random number between bounds of which the first is larger.
#include "../../../engine/filetests/cases/run/include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        random(hdr.data.d, 32w7, 32w7);
        random(hdr.data.c, 16w9, 16w8);
    }
}

#include "../../../engine/filetests/cases/run/include/pipe.p4"
