// Bolt's notifications, places and room (docs/algorithms/bolt.md#bolt-switch) on v1model.

#include <core.p4>
#include <v1model.p4>

#include "../include/headers.p4"
#include "../include/transport.p4"
#include "../include/bolt_header.p4"

struct headers_t {
    ethernet_h ethernet;
    ipv4_h ipv4;
    l4_ports_h l4_ports;
    udp_h udp;
    transport_h transport;
    bolt_h bolt;
}

// What a notification keeps of the packet that it is made of.
#define NOTICE_FIELDS 1

struct metadata_t {
    @field_list(NOTICE_FIELDS)
    bit<32> queue_bytes;
    @field_list(NOTICE_FIELDS)
    rate_kbps_t link_rate;
    bit<12> depth_bytes;
}

// v1model's number for a copy that ingress made.
const bit<32> INSTANCE_INGRESS_CLONE = 1;

#include "../include/ipv4_checksum.p4"
#include "../include/transport_parser.p4"
#include "../controls/forward.p4"
#include "../controls/ack_priority.p4"
#include "../controls/bolt.p4"

parser packet_parser(packet_in packet,
                     out headers_t hdr,
                     inout metadata_t meta,
                     inout standard_metadata_t standard_metadata) {
    TransportParser() common;
    bit<8> extension;

    state start {
        common.apply(packet, hdr, extension);
        transition select(extension) {
            EXTENSION_BOLT: check_bolt;
            default: accept;
        }
    }

    state check_bolt {
        transition select(hdr.transport.extension_len) {
            BOLT_BYTES: parse_bolt;
            default: accept;
        }
    }

    state parse_bolt {
        packet.extract(hdr.bolt);
        transition accept;
    }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    Forward() forward;
    AckPriority() ack_priority;
    Bolt() bolt;

    apply {
        bool drop = true;
        if (standard_metadata.parser_error == error.NoError && standard_metadata.checksum_error == 0) {
            forward.apply(hdr, standard_metadata.egress_spec, drop);
        }
        if (drop) {
            mark_to_drop(standard_metadata);
        } else {
            bool notifies;
            ack_priority.apply(hdr, standard_metadata.priority);
            bolt.apply(hdr, standard_metadata.egress_spec, standard_metadata.priority,
                       standard_metadata.ingress_global_timestamp, notifies, meta.queue_bytes, meta.link_rate,
                       meta.depth_bytes);
            if (notifies) {
                // Back by the port that it came in, in the highest queue: the session says so.
                clone_preserving_field_list(CloneType.I2E,
                                            BOLT_FIRST_SESSION + (bit<32>)standard_metadata.ingress_port, NOTICE_FIELDS);
            }
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    BoltDequeue() dequeue;
    BoltNotice() notice;

    apply {
        if (standard_metadata.instance_type == INSTANCE_INGRESS_CLONE) {
            notice.apply(hdr, meta.queue_bytes, meta.link_rate);
            truncate(BOLT_NOTICE_BYTES);
        } else {
            dequeue.apply(meta.depth_bytes, standard_metadata.egress_port, standard_metadata.priority,
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
