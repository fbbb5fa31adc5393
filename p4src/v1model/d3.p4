// D3's rate allocator on v1model; with every desired rate 0 it is RCP_dc (docs/algorithms/d3-rcp.md#rcp).

#include <core.p4>
#include <v1model.p4>

#include "../include/headers.p4"
#include "../include/transport.p4"
#include "../include/rate.p4"

struct headers_t {
    ethernet_h ethernet;
    ipv4_h ipv4;
    l4_ports_h l4_ports;
    udp_h udp;
    transport_h transport;
    rate_request_h rate_request;
    // Records of hops before this one, then this one's; the sender makes room for one to six.
    rate_hop_h[5] rate_passed;
    rate_hop_h rate_hop;
}

struct metadata_t {}

#include "../include/ipv4_checksum.p4"
#include "../include/transport_parser.p4"
#include "../controls/forward.p4"
#include "../controls/ack_priority.p4"
#include "../controls/d3.p4"

parser packet_parser(packet_in packet,
                     out headers_t hdr,
                     inout metadata_t meta,
                     inout standard_metadata_t standard_metadata) {
    TransportParser() common;
    bit<8> extension;

    bit<8> before;

    state start {
        common.apply(packet, hdr, extension);
        transition select(extension) {
            EXTENSION_RATE_REQUEST: check_request;
            default: accept;
        }
    }

    state check_request {
        transition select(hdr.transport.extension_len) {
            24: parse_request;
            36: parse_request;
            48: parse_request;
            60: parse_request;
            72: parse_request;
            84: parse_request;
            default: accept;
        }
    }

    state parse_request {
        packet.extract(hdr.rate_request);
        before = hdr.rate_request.hop_index;
        transition select(before) {
            0: parse_hop;
            default: check_room;
        }
    }

    // A record is left for this hop where the sender made room for more than those before it.
    state check_room {
        transition select(hdr.transport.extension_len, before) {
            (36, 1): parse_passed;
            (48, 1 .. 2): parse_passed;
            (60, 1 .. 3): parse_passed;
            (72, 1 .. 4): parse_passed;
            (84, 1 .. 5): parse_passed;
            default: accept;
        }
    }

    state parse_passed {
        packet.extract(hdr.rate_passed.next);
        before = before - 1;
        transition select(before) {
            0: parse_hop;
            default: parse_passed;
        }
    }

    state parse_hop {
        packet.extract(hdr.rate_hop);
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
    D3Allocator() allocator;

    apply {
        if (hdr.ipv4.isValid()) {
            allocator.apply(hdr, standard_metadata.egress_port, standard_metadata.egress_global_timestamp,
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
