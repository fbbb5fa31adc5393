// Metadata of clones: what lists of fields keep, what the switch sets.
#define OWN_TYPES
#define OWN_EGRESS
#include "../../../engine/filetests/cases/run/include/v1.p4"

header seen_h {
    bit<8> instance;
    bit<8> ingress_port;
    bit<8> egress_port;
    bit<8> length;
    bit<8> kept;
    bit<8> lost;
}

struct headers_t {
    data_h data;
    seen_h seen;
}

struct metadata_t {
    @field_list(1)
    bit<8> kept;
    bit<8> lost;
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        meta.kept = 0xab;
        meta.lost = 0xcd;
        if (hdr.data.a == 1) {
            clone_preserving_field_list(CloneType.I2E, 7, 1);
        } else if (hdr.data.a == 2) {
            clone(CloneType.I2E, 7);
        } else if (hdr.data.a == 5) {
            clone(CloneType.I2E, 7);
            clone(CloneType.I2E, 8);
        } else if (hdr.data.a == 6) {
            clone(CloneType.I2E, 9);
        }
        hdr.data.b = 9;
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        if (sm.instance_type == 0) {
            if (hdr.data.a == 3) {
                clone_preserving_field_list(CloneType.E2E, 7, 1);
            } else if (hdr.data.a == 4) {
                clone(CloneType.E2E, 7);
            }
            hdr.data.d = 5;
        }
        hdr.seen.setValid();
        hdr.seen.instance = (bit<8>) sm.instance_type;
        hdr.seen.ingress_port = (bit<8>) sm.ingress_port;
        hdr.seen.egress_port = (bit<8>) sm.egress_port;
        hdr.seen.length = (bit<8>) sm.packet_length;
        hdr.seen.kept = meta.kept;
        hdr.seen.lost = meta.lost;
    }
}

#include "../../../engine/filetests/cases/run/include/pipe.p4"
