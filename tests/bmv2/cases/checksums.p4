// Checksums that are wrong, that a condition leaves out, and that include the payload.
#include "../../../engine/filetests/cases/run/include/v1.p4"

control V(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.data.a != 3, { hdr.data.d }, hdr.data.c, HashAlgorithm.csum16);
        verify_checksum_with_payload(hdr.data.a == 4, { hdr.data.d }, hdr.data.c, HashAlgorithm.csum16);
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        hdr.data.b = (bit<8>) sm.checksum_error;
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {}
}

control C(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum_with_payload(hdr.data.a == 5, { hdr.data.d }, hdr.data.c, HashAlgorithm.csum16);
    }
}

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.data);
        transition accept;
    }
}

control D(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(P(), V(), I(), E(), C(), D()) main;
