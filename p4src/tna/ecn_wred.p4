// RED marking for DCQCN on Tofino, by the chip's own filter.

#include <core.p4>
#include <tna.p4>

#include "../include/headers.p4"
#include "../include/transport.p4"

struct headers_t {
    ethernet_h ethernet;
    ipv4_h ipv4;
    l4_ports_h l4_ports;
    udp_h udp;
    transport_h transport;
}

// Egress looks at no extension.
parser ExtensionParser(packet_in packet, inout headers_t hdr) {
    state start {
        transition accept;
    }
}

#include "../adaptors/tna.p4"
#include "../adaptors/tna_transport.p4"
#include "../include/ecn.p4"

control egress(inout headers_t hdr,
               inout egress_metadata_t meta,
               in egress_intrinsic_metadata_t from_tm,
               in egress_intrinsic_metadata_from_parser_t from_parser,
               inout egress_intrinsic_metadata_for_deparser_t for_deparser,
               inout egress_intrinsic_metadata_for_output_port_t for_port) {
    // K_min, K_max and P_max of each port, which BF Runtime sets; without them a port never marks. A time
    // constant of 0 takes the queue of this moment, as DCQCN does (docs/algorithms/marking.md#red).
    Wred<bit<19>, bit<32>>(PORT_COUNT, 1, 0) red;

    // Capable packets that left each port with CE set here.
    PACKET_COUNTER(PORT_COUNT) marked_packets;

    apply {
        if (hdr.ipv4.isValid() && hdr.ipv4.ecn != ECN_NOT_CAPABLE && hdr.ipv4.ecn != ECN_CE) {
            bit<8> marks = red.execute(from_tm.deq_qdepth, (bit<32>)from_tm.egress_port);
            if (marks == 1) {
                hdr.ipv4.ecn = ECN_CE;
                marked_packets.count((bit<32>)from_tm.egress_port);
            }
        }
    }
}

Pipeline(ingress_parser(), ingress(), ingress_deparser(), egress_parser(), egress(), egress_deparser()) pipe;

Switch(pipe) main;
