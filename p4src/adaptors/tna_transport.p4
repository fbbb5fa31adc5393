// What the programs with our transport have in common on Tofino: ingress whole, which forwards and chooses
// the queue, the parser of egress, and the deparsers. Needs the program's `headers_t`, and what
// tna_transport_parser.p4 needs; `egress` is the program's own.

#ifndef P4CC_TNA_TRANSPORT
#define P4CC_TNA_TRANSPORT

#include "../controls/forward.p4"
#include "../controls/ack_priority.p4"
#include "tna_deparser.p4"
#include "tna_no_bridge.p4"
#include "tna_transport_parser.p4"

struct ingress_metadata_t {
    bool checksum_error;
}

struct egress_metadata_t {}

parser ingress_parser(packet_in packet,
                      out headers_t hdr,
                      out ingress_metadata_t meta,
                      out ingress_intrinsic_metadata_t from_port) {
    IngressTransportParser() common;

    state start {
        packet.extract(from_port);
        packet.advance(PORT_METADATA_SIZE);
        common.apply(packet, hdr, meta.checksum_error);
        transition accept;
    }
}

control ingress(inout headers_t hdr,
                inout ingress_metadata_t meta,
                in ingress_intrinsic_metadata_t from_port,
                in ingress_intrinsic_metadata_from_parser_t from_parser,
                inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
                inout ingress_intrinsic_metadata_for_tm_t for_tm) {
    Forward() forward;
    AckPriority() ack_priority;
    FillBridge() bridge;

    apply {
        // Beside the routes, which it does not ask: a chip does both at once.
        if (hdr.ipv4.isValid()) {
            priority_t priority = 0;
            ack_priority.apply(hdr, priority);
            for_tm.qid = (QueueId_t)priority;
        }
        bool drop = true;
        if (!meta.checksum_error) {
            forward.apply(hdr, for_tm.ucast_egress_port, drop);
        }
        if (drop) {
            for_deparser.drop_ctl = 1;
        } else {
            bridge.apply(hdr, from_port.ingress_port, from_parser.global_tstamp);
        }
    }
}

control ingress_deparser(packet_out packet,
                         inout headers_t hdr,
                         in ingress_metadata_t meta,
                         in ingress_intrinsic_metadata_for_deparser_t for_deparser) {
    apply {
        packet.emit(hdr);
    }
}

parser egress_parser(packet_in packet,
                     out headers_t hdr,
                     out egress_metadata_t meta,
                     out egress_intrinsic_metadata_t from_tm) {
    BridgeParser() bridge;
    EgressTransportParser() common;

    state start {
        packet.extract(from_tm);
        bridge.apply(packet, hdr);
        common.apply(packet, hdr);
        transition accept;
    }
}

control egress_deparser(packet_out packet,
                        inout headers_t hdr,
                        in egress_metadata_t meta,
                        in egress_intrinsic_metadata_for_deparser_t for_deparser) {
    ComputeIpv4Checksum() checksum;

    apply {
        checksum.apply(hdr);
        packet.emit(hdr);
    }
}

#endif
