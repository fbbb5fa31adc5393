// PSA's externs as BMv2 JSON has them too: registers without a first value, hashes over constants, code with conditions
// in a deparser before its headers.
// 0x0102 + 0x0304 = 0x0406, whose complement is the checksum.
// packet 0 01 02 0304
// expect 1 01 02 fbf9
// expect_counter I.hits 1 1
// expect_register I.cells 1 1
// expect_digest ID.seen 1 2
// What was added and taken out again leaves the rest; a hash within base and max.
// packet 0 02 09 0304
// expect 1 02 09 fcfb
// expect_register I.cells 2 1
// packet 0 03 00 0000
// expect 1 03 2a 0000
// A cell past the end is neither counted nor written.
// packet 0 09 00 0000
// expect 1 09 2a 0000
#include "include/psa_pipe.p4"

struct seen_t {
    bit<8> a;
    bit<8> b;
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
    Register<bit<16>, bit<8>>(4) cells;
    Counter<bit<32>, bit<8>>(4, PSA_CounterType_t.PACKETS) hits;
    Random<bit<8>>(42, 42) fixed;
    Hash<bit<16>>(PSA_HashAlgorithm_t.CRC16) crc;
    InternetChecksum() sum;
    apply {
        send_to_port(ostd, (PortId_t) 1);
        hits.count(hdr.data.a);
        cells.write(hdr.data.a, cells.read(hdr.data.a) + 1);
        if (hdr.data.a == 1) {
            sum.add({ hdr.data.a, hdr.data.b });
            sum.add(hdr.data.c);
            hdr.data.c = sum.get();
        } else if (hdr.data.a == 2) {
            sum.add({ hdr.data.a, hdr.data.b, hdr.data.c });
            sum.subtract({ hdr.data.a, hdr.data.b });
            hdr.data.c = sum.get();
        } else {
            hdr.data.b = fixed.read();
            bit<16> kept = crc.get_hash((bit<16>) 4, { hdr.data.a, 8w7 }, (bit<16>) 3);
            if (kept < 4 || kept > 6) {
                hdr.data.b = 0;
            }
        }
    }
}

control ID(packet_out pkt, out none_t clone_i2e_meta, out none_t resubmit_meta, out none_t normal_meta,
           inout headers_t hdr, in none_t meta, in psa_ingress_output_metadata_t istd) {
    Digest<seen_t>() seen;
    apply {
        if (hdr.data.a == 1) {
            seen.pack({ hdr.data.a, hdr.data.b });
        }
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
