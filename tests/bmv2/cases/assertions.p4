// A condition that does not hold.
#include "../../../engine/filetests/cases/run/include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        assert(hdr.data.a != 2);
    }
}

#include "../../../engine/filetests/cases/run/include/pipe.p4"
