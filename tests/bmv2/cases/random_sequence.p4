// Random numbers.
#include "../../../engine/filetests/cases/run/include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        random(hdr.data.d, 32w0, 32w0xffffffff);
    }
}

#include "../../../engine/filetests/cases/run/include/pipe.p4"
