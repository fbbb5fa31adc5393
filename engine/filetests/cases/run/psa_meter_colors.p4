// A meter that takes the colour of the packet before (b: 0 red, 1 green, 2 yellow, as psa_switch numbers them; so is c).
// Nobody set the cell: the colour stays.
// packet 0 01 00 0000
// expect 1 01 00 00f0
// packet 0 01 01 0000
// expect 1 01 01 00f1
// packet 0 01 02 0000
// expect 1 01 02 00f2
// One packet of the committed burst, two of the peak: yellow takes of the peak alone, red of none (RFC 2698).
// set_meter I.cells 2 0 1 0 2
// packet 0 02 00 0000
// expect 1 02 00 00f0
// packet 0 02 02 0000
// expect 1 02 02 00f2
// packet 0 02 01 0000
// expect 1 02 01 00f1
// packet 0 02 01 0000
// expect 1 02 01 00f0
// Colours known when it is compiled: green, then red.
// set_meter I.cells 3 0 1 0 1
// packet 0 03 00 0000
// expect 1 03 00 00f1
// packet 0 04 00 0000
// expect 1 04 00 00f0
#include "include/psa_pipe.p4"

parser IP(packet_in pkt, out headers_t hdr, inout none_t meta, in psa_ingress_parser_input_metadata_t istd,
          in none_t resubmit_meta, in none_t recirculate_meta) {
    state start {
        pkt.extract(hdr.data);
        transition accept;
    }
}

control I(inout headers_t hdr, inout none_t meta, in psa_ingress_input_metadata_t istd,
          inout psa_ingress_output_metadata_t ostd) {
    Meter<bit<8>>(8, PSA_MeterType_t.PACKETS) cells;
    apply {
        send_to_port(ostd, (PortId_t) 1);
        PSA_MeterColor_t color = PSA_MeterColor_t.GREEN;
        if (hdr.data.b == 0) {
            color = PSA_MeterColor_t.RED;
        } else if (hdr.data.b == 2) {
            color = PSA_MeterColor_t.YELLOW;
        }
        if (hdr.data.a == 3) {
            color = cells.execute(hdr.data.a, PSA_MeterColor_t.GREEN);
        } else if (hdr.data.a == 4) {
            color = cells.execute(hdr.data.a, PSA_MeterColor_t.RED);
        } else {
            color = cells.execute(hdr.data.a, color);
        }
        hdr.data.c = 0xf1;
        if (color == PSA_MeterColor_t.RED) {
            hdr.data.c = 0xf0;
        } else if (color == PSA_MeterColor_t.YELLOW) {
            hdr.data.c = 0xf2;
        }
    }
}

control ID(packet_out pkt, out none_t clone_i2e_meta, out none_t resubmit_meta, out none_t normal_meta,
           inout headers_t hdr, in none_t meta, in psa_ingress_output_metadata_t istd) {
    apply {
        pkt.emit(hdr.data);
    }
}

parser EP(packet_in pkt, out headers_t hdr, inout none_t meta, in psa_egress_parser_input_metadata_t istd,
          in none_t normal_meta, in none_t clone_i2e_meta, in none_t clone_e2e_meta) {
    state start {
        pkt.extract(hdr.data);
        transition accept;
    }
}

control E(inout headers_t hdr, inout none_t meta, in psa_egress_input_metadata_t istd,
          inout psa_egress_output_metadata_t ostd) {
    apply { }
}

control ED(packet_out pkt, out none_t clone_e2e_meta, out none_t recirculate_meta, inout headers_t hdr,
           in none_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
    apply {
        pkt.emit(hdr.data);
    }
}

IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
