// `_` for type arguments: any index will do, and what the cells hold follows from the first value.
// packet 0 02 01 0005
// expect 1 02 01 000c
// expect_register I.cells 2 12
// expect_counter I.hits 2 1
#include "include/psa_pipe.p4"

parser IP(packet_in pkt, out headers_t hdr, inout none_t meta, in psa_ingress_parser_input_metadata_t istd,
          in none_t resubmit_meta, in none_t recirculate_meta) {
    state start {
        pkt.extract(hdr.data);
        transition accept;
    }
}

control Count(in bit<8> at)(Counter<_, _> hits) {
    apply {
        hits.count(at);
    }
}

control I(inout headers_t hdr, inout none_t meta, in psa_ingress_input_metadata_t istd,
          inout psa_ingress_output_metadata_t ostd) {
    Register<_, _>(4, 16w7) cells;
    Register<bit<16>, _>(4) more;
    Counter<_, _>(4, PSA_CounterType_t.PACKETS) hits;
    Count(hits) count;
    apply {
        send_to_port(ostd, (PortId_t) 1);
        count.apply(hdr.data.a);
        cells.write(hdr.data.a, cells.read(hdr.data.a) + hdr.data.c);
        more.write(0, cells.read(32w2));
        hdr.data.c = more.read(0);
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
