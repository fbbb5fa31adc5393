// Every packet is multicast, and every copy recirculates: without a limit one packet would be work for ever.

#include <core.p4>
#include <v1model.p4>

struct headers_t {}

struct metadata_t {}

parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    state start {
        transition accept;
    }
}

control no_checksum(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.mcast_grp = 1;
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        recirculate_preserving_field_list(0);
    }
}

control deparser(packet_out packet, in headers_t hdr) {
    apply {}
}

V1Switch(parse(), no_checksum(), ingress(), egress(), no_checksum(), deparser()) main;
