// The hash algorithm `random` of v1model.
#include "../../../engine/filetests/cases/run/include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        hash(hdr.data.c, HashAlgorithm.random, 16w0, { hdr.data.a }, 32w65536);
    }
}

#include "../../../engine/filetests/cases/run/include/pipe.p4"
