// A resubmitted packet: headers as they came in, metadata of a list of fields, no port of arrival.
#define OWN_TYPES
#include "../../../engine/filetests/cases/run/include/v1.p4"

struct headers_t {
    data_h data;
}

struct metadata_t {
    @field_list(1)
    bit<8> kept;
    bit<8> lost;
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        if (sm.instance_type == 0) {
            meta.kept = 0xab;
            meta.lost = 0xcd;
            hdr.data.b = 9;
            resubmit_preserving_field_list(1);
        } else {
            hdr.data.c = meta.kept ++ meta.lost;
            hdr.data.d = (bit<8>) sm.instance_type ++ (bit<8>) sm.ingress_port ++ (bit<16>) sm.packet_length;
        }
    }
}

#include "../../../engine/filetests/cases/run/include/pipe.p4"
