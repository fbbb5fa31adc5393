// Trimming (docs/algorithms/trimming.md#deflection-tofino) and packets sprayed, on Tofino 2 (T2NA): Tofino 1
// cuts no packet to a length.
//
// The traffic manager sends a packet whose queue is full to the pipe's deflection port, which leads back to
// ingress. Without such a port, or without a loop at it, nothing is trimmed.

#include <core.p4>
#include <t2na.p4>

#include "../include/headers.p4"
#include "../include/transport.p4"

struct headers_t {
    ethernet_h ethernet;
    ipv4_h ipv4;
    l4_ports_h l4_ports;
    udp_h udp;
    transport_h transport;
}

struct ingress_metadata_t {
    bool checksum_error;
}

struct egress_metadata_t {}

// Egress looks at no extension.
parser ExtensionParser(packet_in packet, inout headers_t hdr) {
    state start {
        transition accept;
    }
}

#include "../adaptors/tna.p4"
#include "../adaptors/tna_spray.p4"
#include "../adaptors/tna_transport_parser.p4"
#include "../adaptors/tna_deparser.p4"
#include "../controls/forward.p4"
#include "../controls/ack_priority.p4"
#include "../controls/trim.p4"

// How egress marks a packet on its way back to ingress: the reserved bit of IPv4's flags, which no packet on
// a link has set (RFC 791 3.1).
const bit<3> FLAG_DEFLECTED = 4;
// The frame that is left, with its check sequence.
const bit<14> TRIMMED_BYTES = 82;

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
    Spray() spray;
    AckPriority() ack_priority;
    Trim() trim;

    apply {
        bool drop = true;
        bool is_deflected = false;
        priority_t priority = 0;
        if (hdr.ipv4.isValid()) {
            ack_priority.apply(hdr, priority);
            if (hdr.ipv4.flags[2:2] == 1) {
                is_deflected = true;
                hdr.ipv4.flags[2:2] = 0;
            }
        }
        if (!meta.checksum_error) {
            // Groups of equal paths choose by the source port among others: another one for the choice.
            bit<16> src_port = hdr.l4_ports.src_port;
            bit<16> entropy;
            spray.apply(hdr, from_parser.global_tstamp, entropy);
            hdr.l4_ports.src_port = entropy;
            forward.apply(hdr, for_tm.ucast_egress_port, drop);
            hdr.l4_ports.src_port = src_port;
        }
        if (drop) {
            for_deparser.drop_ctl = 1;
        } else if (is_deflected) {
            bool trims = false;
            trim.apply(hdr, for_tm.ucast_egress_port, trims);
            if (trims) {
                for_deparser.mtu_trunc_len = TRIMMED_BYTES;
                priority = PRIORITY_CONTROL;
            }
        } else {
            for_tm.deflect_on_drop = 1;
        }
        for_tm.qid = (QueueId_t)priority;
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
    EgressTransportParser() common;

    state start {
        packet.extract(from_tm);
        common.apply(packet, hdr);
        transition accept;
    }
}

control egress(inout headers_t hdr,
               inout egress_metadata_t meta,
               in egress_intrinsic_metadata_t from_tm,
               in egress_intrinsic_metadata_from_parser_t from_parser,
               inout egress_intrinsic_metadata_for_deparser_t for_deparser,
               inout egress_intrinsic_metadata_for_output_port_t for_port) {
    // As it came in, for its second pass: what the first one wrote into the packet is taken back.
    action send_back() {
        hdr.ethernet.dst_addr = hdr.ethernet.src_addr;
        hdr.ipv4.ttl = hdr.ipv4.ttl + 1;
        hdr.ipv4.flags = hdr.ipv4.flags | FLAG_DEFLECTED;
    }

    apply {
        if (from_tm.deflection_flag == 1 && hdr.ipv4.isValid()) {
            send_back();
        }
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

Pipeline(ingress_parser(), ingress(), ingress_deparser(), egress_parser(), egress(), egress_deparser()) pipe;

Switch(pipe) main;
