// A recirculated packet: headers as they went out, metadata of a list of fields, no port of arrival.
#define OWN_TYPES
#define OWN_EGRESS
#include "../../../engine/filetests/cases/run/include/v1.p4"

struct headers_t {
    data_h data;
}

struct metadata_t {
    @field_list(1)
    bit<8> kept;
    bit<8> lost;
    bit<1> is_again;
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        if (sm.instance_type == 0) {
            meta.kept = 0xab;
            meta.lost = 0xcd;
            hdr.data.b = 9;
        } else {
            meta.is_again = 1;
            hdr.data.c = meta.kept ++ meta.lost;
            hdr.data.d = (bit<8>) sm.instance_type ++ (bit<8>) sm.ingress_port ++ (bit<16>) sm.packet_length;
        }
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        if (meta.is_again == 0) {
            recirculate_preserving_field_list(1);
            truncate(9);
        }
    }
}

#include "../../../engine/filetests/cases/run/include/pipe.p4"
