// HPCC's hop records on Tofino.

#include <core.p4>
#include <tna.p4>

#include "../include/headers.p4"
#include "../include/transport.p4"
#include "../include/int.p4"

struct headers_t {
    ethernet_h ethernet;
    ipv4_h ipv4;
    l4_ports_h l4_ports;
    udp_h udp;
    transport_h transport;
    int_shim_h int_shim;
    int_hop_h int_hop;
}

// A whole number of records behind the shim, or this is not telemetry.
parser ExtensionParser(packet_in packet, inout headers_t hdr) {
    state start {
        transition select(hdr.transport.extension_type, hdr.transport.extension_len) {
            (EXTENSION_INT_HPCC, 2 &&& 7): parse_int;
            default: accept;
        }
    }

    state parse_int {
        packet.extract(hdr.int_shim);
        transition accept;
    }
}

#include "../adaptors/tna.p4"
#include "../adaptors/tna_int.p4"
#include "../adaptors/tna_transport.p4"
#include "../controls/int_push.p4"
#include "../controls/int_hpcc.p4"

control egress(inout headers_t hdr,
               inout egress_metadata_t meta,
               in egress_intrinsic_metadata_t from_tm,
               in egress_intrinsic_metadata_from_parser_t from_parser,
               inout egress_intrinsic_metadata_for_deparser_t for_deparser,
               inout egress_intrinsic_metadata_for_output_port_t for_port) {
    IntHpcc() telemetry;

    apply {
        if (hdr.ipv4.isValid()) {
            telemetry.apply(hdr, from_tm.egress_port, from_parser.global_tstamp, from_tm.deq_qdepth);
        }
    }
}

Pipeline(ingress_parser(), ingress(), ingress_deparser(), egress_parser(), egress(), egress_deparser()) pipe;

Switch(pipe) main;
