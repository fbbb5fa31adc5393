// HPCC's hop records on Tofino, in room that the sender reserved.

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
    // The record of this switch, in front of the others.
    int_hop_h int_hop;
    int_hop_h[INT_FIXED_RECORDS] int_hops;
}

// Room for five records behind the shim, or this is not telemetry.
parser ExtensionParser(packet_in packet, inout headers_t hdr) {
    state start {
        transition select(hdr.transport.extension_type, hdr.transport.extension_len) {
            (EXTENSION_INT_FIXED, INT_FIXED_BYTES): parse_int;
            default: accept;
        }
    }

    state parse_int {
        packet.extract(hdr.int_shim);
        packet.extract(hdr.int_hops[0]);
        packet.extract(hdr.int_hops[1]);
        packet.extract(hdr.int_hops[2]);
        packet.extract(hdr.int_hops[3]);
        packet.extract(hdr.int_hops[4]);
        transition accept;
    }
}

#include "../adaptors/tna.p4"
#include "../adaptors/tna_int.p4"
#include "../adaptors/tna_int_records.p4"
#include "../adaptors/tna_transport.p4"
#include "../controls/int_fixed.p4"
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
