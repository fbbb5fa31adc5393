// Plain forwarding with ACKs in the highest queue and data by its class (TIMELY), on Tofino.

#include <core.p4>
#include <tna.p4>

#include "../include/headers.p4"
#include "../include/transport.p4"

struct headers_t {
    ethernet_h ethernet;
    ipv4_h ipv4;
    l4_ports_h l4_ports;
    udp_h udp;
    transport_h transport;
}

// Egress looks at no extension.
parser ExtensionParser(packet_in packet, inout headers_t hdr) {
    state start {
        transition accept;
    }
}

#include "../adaptors/tna.p4"
#include "../adaptors/tna_transport.p4"

control egress(inout headers_t hdr,
               inout egress_metadata_t meta,
               in egress_intrinsic_metadata_t from_tm,
               in egress_intrinsic_metadata_from_parser_t from_parser,
               inout egress_intrinsic_metadata_for_deparser_t for_deparser,
               inout egress_intrinsic_metadata_for_output_port_t for_port) {
    apply {}
}

Pipeline(ingress_parser(), ingress(), ingress_deparser(), egress_parser(), egress(), egress_deparser()) pipe;

Switch(pipe) main;
