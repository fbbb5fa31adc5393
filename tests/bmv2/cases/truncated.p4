// Packets are cut to a length in ingress or egress, within headers too; a clone of ingress is whole.
#define OWN_EGRESS
#include "../../../engine/filetests/cases/run/include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        if (hdr.data.a == 1) {
            truncate(10);
        } else if (hdr.data.a == 2) {
            truncate(10);
            clone(CloneType.I2E, 7);
        } else if (hdr.data.a == 3) {
            truncate(3);
        } else if (hdr.data.a == 4) {
            truncate(100);
        }
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        if (hdr.data.a == 5) {
            truncate(9);
        }
    }
}

#include "../../../engine/filetests/cases/run/include/pipe.p4"
