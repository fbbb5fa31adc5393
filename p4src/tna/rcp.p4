// RCP's fair rate on Tofino, which measures and stamps; the controller makes the steps.

#include <core.p4>
#include <tna.p4>

#include "../include/headers.p4"
#include "../include/transport.p4"
#include "../include/rate.p4"

struct headers_t {
    ethernet_h ethernet;
    ipv4_h ipv4;
    l4_ports_h l4_ports;
    udp_h udp;
    transport_h transport;
    fair_rate_h fair_rate;
}

parser ExtensionParser(packet_in packet, inout headers_t hdr) {
    state start {
        transition select(hdr.transport.extension_type, hdr.transport.extension_len) {
            (EXTENSION_FAIR_RATE, FAIR_RATE_BYTES): parse_rate;
            default: accept;
        }
    }

    state parse_rate {
        packet.extract(hdr.fair_rate);
        transition accept;
    }
}

#include "../adaptors/tna.p4"
#include "../adaptors/tna_transport.p4"
#include "../controls/rcp_stamp.p4"

control egress(inout headers_t hdr,
               inout egress_metadata_t meta,
               in egress_intrinsic_metadata_t from_tm,
               in egress_intrinsic_metadata_from_parser_t from_parser,
               inout egress_intrinsic_metadata_for_deparser_t for_deparser,
               inout egress_intrinsic_metadata_for_output_port_t for_port) {
    RcpStamp() rcp;

    apply {
        if (hdr.ipv4.isValid()) {
            rcp.apply(hdr, from_tm.egress_port, from_tm.deq_qdepth);
        }
    }
}

Pipeline(ingress_parser(), ingress(), ingress_deparser(), egress_parser(), egress(), egress_deparser()) pipe;

Switch(pipe) main;
