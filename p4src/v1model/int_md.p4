// INT-MD 2.1 telemetry on v1model.

#include <core.p4>
#include <v1model.p4>

#include "../include/headers.p4"
#include "../include/transport.p4"
#include "../include/int.p4"

struct headers_t {
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

struct metadata_t {}

#include "../include/ipv4_checksum.p4"
#include "../include/transport_parser.p4"
#include "../controls/forward.p4"
#include "../controls/ack_priority.p4"
#include "../controls/int_md.p4"

parser packet_parser(packet_in packet,
                     out headers_t hdr,
                     inout metadata_t meta,
                     inout standard_metadata_t standard_metadata) {
    TransportParser() common;
    bit<8> extension;

    state start {
        common.apply(packet, hdr, extension);
        transition select(extension) {
            EXTENSION_INT_MD: check_int;
            default: accept;
        }
    }

    // Room for shim and metadata header, or this is not telemetry.
    state check_int {
        transition select(hdr.transport.extension_len) {
            0 &&& 0xf0: accept;
            default: parse_shim;
        }
    }

    state parse_shim {
        packet.extract(hdr.int_md_shim);
        transition parse_metadata;
    }

    state parse_metadata {
        packet.extract(hdr.int_md);
        transition accept;
    }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    Forward() forward;
    AckPriority() ack_priority;

    apply {
        bool drop = true;
        if (standard_metadata.parser_error == error.NoError && standard_metadata.checksum_error == 0) {
            forward.apply(hdr, standard_metadata.egress_spec, drop);
        }
        if (drop) {
            mark_to_drop(standard_metadata);
        } else {
            ack_priority.apply(hdr, standard_metadata.priority);
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    IntMd() telemetry;

    apply {
        if (hdr.ipv4.isValid()) {
            telemetry.apply(hdr, standard_metadata.ingress_port, standard_metadata.egress_port,
                            standard_metadata.priority, standard_metadata.ingress_global_timestamp,
                            standard_metadata.egress_global_timestamp, standard_metadata.deq_qdepth);
        }
    }
}

control deparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(packet_parser(), verify_ipv4_checksum(), ingress(), egress(), compute_ipv4_checksum(), deparser()) main;
