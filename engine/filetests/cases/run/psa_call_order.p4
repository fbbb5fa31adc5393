// The order of arguments of PSA's externs, which give their results back.
// packet 0 01 00 0000
// expect 1 01 04 0005
// expect_register I.cells 2 3
// expect_register I.cells 3 0
// expect_register I.cells 5 4
#include "include/psa_pipe.p4"

bit<8> step(inout bit<8> x) {
    x = x + 1;
    return x;
}

parser IP(packet_in pkt, out headers_t hdr, inout none_t meta, in psa_ingress_parser_input_metadata_t istd,
          in none_t resubmit_meta, in none_t recirculate_meta) {
    state start {
        pkt.extract(hdr.data);
        transition accept;
    }
}

control I(inout headers_t hdr, inout none_t meta, in psa_ingress_input_metadata_t istd,
          inout psa_ingress_output_metadata_t ostd) {
    Register<bit<16>, bit<8>>(8) cells;
    Hash<bit<16>>(PSA_HashAlgorithm_t.CRC16) crc;
    apply {
        send_to_port(ostd, (PortId_t) 1);
        bit<8> i = hdr.data.a;
        // Cell 2 gets 3, cell 3 nothing.
        cells.write(step(i), (bit<16>)step(i));
        // Cell 5 gets 4: the value is written in front of the index.
        cells.write(value = (bit<16>)step(i), index = step(i));
        i = 1;
        hdr.data.c = cells.read(step(i)) + (bit<16>)i;
        // A range of one, from 4 on, whatever the hash is; the base is from before its data.
        i = 4;
        hdr.data.b = (bit<8>)crc.get_hash((bit<16>)i, { step(i) }, 16w1) + (i - 5);
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
