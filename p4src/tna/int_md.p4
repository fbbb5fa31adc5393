// INT-MD 2.1 telemetry on Tofino.

#include <core.p4>
#include <tna.p4>

#include "../include/headers.p4"
#include "../include/transport.p4"
#include "../include/int.p4"
#include "../adaptors/tna_bridge_header.p4"

struct headers_t {
    // From ingress to egress; never sent from here.
    bridge_h bridge;
    ethernet_h ethernet;
    ipv4_h ipv4;
    l4_ports_h l4_ports;
    udp_h udp;
    transport_h transport;
    int_md_shim_h int_md_shim;
    int_md_h int_md;
    int_node_h int_node;
    int_ports_h int_ports;
    int_latency_h int_latency;
    int_queue_h int_queue;
    int_time_h int_ingress_time;
    int_time_h int_egress_time;
    int_two_words_h int_level_2_ports;
    int_tx_h int_tx;
    int_word_h[8] int_unknown;
}

// Room for shim and metadata header, or this is not telemetry.
parser ExtensionParser(packet_in packet, inout headers_t hdr) {
    state start {
        transition select(hdr.transport.extension_type, hdr.transport.extension_len) {
            (EXTENSION_INT_MD, 0 &&& 0xf0): accept;
            (EXTENSION_INT_MD, _): parse_int;
            default: accept;
        }
    }

    state parse_int {
        packet.extract(hdr.int_md_shim);
        packet.extract(hdr.int_md);
        transition accept;
    }
}

#include "../adaptors/tna.p4"
#include "../adaptors/tna_bridge.p4"
#include "../adaptors/tna_int_md.p4"
#include "../adaptors/tna_transport.p4"
#include "../controls/int_md.p4"

control egress(inout headers_t hdr,
               inout egress_metadata_t meta,
               in egress_intrinsic_metadata_t from_tm,
               in egress_intrinsic_metadata_from_parser_t from_parser,
               inout egress_intrinsic_metadata_for_deparser_t for_deparser,
               inout egress_intrinsic_metadata_for_output_port_t for_port) {
    IntMd() telemetry;

    apply {
        if (hdr.ipv4.isValid()) {
            telemetry.apply(hdr, hdr.bridge.ingress_port, from_tm.egress_port, from_tm.egress_qid[2:0],
                            hdr.bridge.ingress_time, from_parser.global_tstamp, from_tm.deq_qdepth);
        }
        hdr.bridge.setInvalid();
    }
}

Pipeline(ingress_parser(), ingress(), ingress_deparser(), egress_parser(), egress(), egress_deparser()) pipe;

Switch(pipe) main;
