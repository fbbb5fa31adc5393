// Dual-threshold ECN marking for GST (and DCTCP, by its profile) on Tofino.

#include <core.p4>
#include <tna.p4>

#include "../include/headers.p4"

struct headers_t {
    ethernet_h ethernet;
    ipv4_h ipv4;
    l4_ports_h l4_ports;
}

struct ingress_metadata_t {
    bool checksum_error;
}

struct egress_metadata_t {}

#include "../adaptors/tna.p4"
#include "../adaptors/tna_parser.p4"
#include "../adaptors/tna_deparser.p4"
#include "../controls/forward.p4"
#include "../controls/ecn_dual.p4"

parser ingress_parser(packet_in packet,
                      out headers_t hdr,
                      out ingress_metadata_t meta,
                      out ingress_intrinsic_metadata_t from_port) {
    IngressPacketParser() common;

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

    apply {
        bool drop = true;
        if (!meta.checksum_error) {
            forward.apply(hdr, for_tm.ucast_egress_port, drop);
        }
        if (drop) {
            for_deparser.drop_ctl = 1;
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
    EgressPacketParser() common;

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
    EcnDual() ecn;

    apply {
        if (hdr.ipv4.isValid()) {
            // Of the egress queue when this packet was enqueued.
            ecn_level_t level;
            ecn.apply(hdr.ipv4.ecn, from_tm.egress_port, from_tm.enq_qdepth, level);
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
