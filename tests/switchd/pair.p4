// What comes in on port 1 goes out of port 2, and the other way round.

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
    action forward(bit<9> port) {
        standard_metadata.egress_spec = port;
    }

    action drop() {
        mark_to_drop(standard_metadata);
    }

    table pairs {
        key = {
            standard_metadata.ingress_port: exact;
        }
        actions = {
            forward;
            drop;
        }
        size = 16;
        default_action = drop();
        const entries = {
            1: forward(2);
            2: forward(1);
        }
    }

    apply {
        pairs.apply();
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {}
}

control deparser(packet_out packet, in headers_t hdr) {
    apply {}
}

V1Switch(parse(), no_checksum(), ingress(), egress(), no_checksum(), deparser()) main;
