// Trimming (docs/algorithms/trimming.md) and packets sprayed
// (docs/algorithms/topologies.md#packet-spraying), on v1model with p4cc's extension `deflect_on_drop`.
// Without the extension nothing is trimmed: a packet that finds its queue full is dropped, as on BMv2.

#include <core.p4>
#include <v1model.p4>

#include "../include/headers.p4"
#include "../include/transport.p4"

struct headers_t {
    ethernet_h ethernet;
    ipv4_h ipv4;
    l4_ports_h l4_ports;
    udp_h udp;
    transport_h transport;
}

struct metadata_t {}

#include "../include/ipv4_checksum.p4"
#include "../include/transport_parser.p4"
#include "../controls/forward.p4"
#include "../controls/spray.p4"
#include "../controls/ack_priority.p4"
#include "../controls/trim.p4"

// p4cc's extension: the value of `instance_type` in the pass that follows a full queue.
const bit<32> INSTANCE_TYPE_DEFLECTED = 9;

parser packet_parser(packet_in packet,
                     out headers_t hdr,
                     inout metadata_t meta,
                     inout standard_metadata_t standard_metadata) {
    TransportParser() common;
    bit<8> extension;

    state start {
        common.apply(packet, hdr, extension);
        transition accept;
    }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    Forward() forward;
    Spray() spray;
    AckPriority() ack_priority;
    Trim() trim;

    apply {
        bool drop = true;
        if (standard_metadata.parser_error == error.NoError && standard_metadata.checksum_error == 0) {
            // Groups of equal paths choose by the source port among others: another one for the choice.
            bit<16> src_port = hdr.l4_ports.src_port;
            bit<16> entropy;
            spray.apply(hdr, standard_metadata.ingress_global_timestamp, entropy);
            hdr.l4_ports.src_port = entropy;
            forward.apply(hdr, standard_metadata.egress_spec, drop);
            hdr.l4_ports.src_port = src_port;
        }
        if (drop) {
            mark_to_drop(standard_metadata);
        } else {
            ack_priority.apply(hdr, standard_metadata.priority);
            bool trims = false;
            if (standard_metadata.instance_type == INSTANCE_TYPE_DEFLECTED) {
                trim.apply(hdr, standard_metadata.egress_spec, trims);
            }
            if (trims) {
                truncate(TRIMMED_FRAME_BYTES);
                standard_metadata.priority = PRIORITY_CONTROL;
            }
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {}
}

control deparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(packet_parser(), verify_ipv4_checksum(), ingress(), egress(), compute_ipv4_checksum(), deparser()) main;
