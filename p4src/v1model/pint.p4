// PINT for HPCC on v1model: the utilisation of the busiest port in one byte.

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
    pint_h pint;
}

struct metadata_t {}

#include "../include/ipv4_checksum.p4"
#include "../include/transport_parser.p4"
#include "../controls/forward.p4"
#include "../controls/ack_priority.p4"
#include "../controls/pint.p4"

parser packet_parser(packet_in packet,
                     out headers_t hdr,
                     inout metadata_t meta,
                     inout standard_metadata_t standard_metadata) {
    TransportParser() common;
    bit<8> extension;

    state start {
        common.apply(packet, hdr, extension);
        transition select(extension) {
            EXTENSION_PINT: check_pint;
            default: accept;
        }
    }

    state check_pint {
        transition select(hdr.transport.extension_len) {
            PINT_BYTES: parse_pint;
            default: accept;
        }
    }

    state parse_pint {
        packet.extract(hdr.pint);
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
    Pint() pint;

    apply {
        if (hdr.ipv4.isValid()) {
            pint.apply(hdr, standard_metadata.egress_port, standard_metadata.egress_global_timestamp,
                       standard_metadata.deq_qdepth);
        }
    }
}

control deparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(packet_parser(), verify_ipv4_checksum(), ingress(), egress(), compute_ipv4_checksum(), deparser()) main;
