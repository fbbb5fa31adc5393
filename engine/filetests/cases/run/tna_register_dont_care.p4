// TNA: type arguments of a register action that are left to `_` follow from its `apply`.
// packet 0 01 00 0000
// expect 1 01 05 0001
// packet 0 01 00 0000
// expect 1 01 05 0002
// expect_register I.cells 1 2
#include "include/tna_pipe.p4"

struct headers_t {
    data_t data;
}

struct metadata_t { }

struct pair_t {
    bit<8> lo;
    bit<8> hi;
}

parser IP(packet_in pkt, out headers_t hdr, out metadata_t meta, out ingress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.data);
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t intr,
          in ingress_intrinsic_metadata_from_parser_t prsr, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
          inout ingress_intrinsic_metadata_for_tm_t tm) {
    Register<bit<16>, bit<32>>(4) cells;
    Register<pair_t, bit<32>>(4, { 1, 4 }) pairs;
    RegisterAction<_, _, bit<16>>(cells) bump = {
        void apply(inout bit<16> value, out bit<16> result) {
            value = value + 1;
            result = value;
        }
    };
    RegisterAction<_, _, _>(pairs) sum = {
        void apply(inout pair_t value, out bit<8> result) {
            result = value.lo + value.hi;
        }
    };
    apply {
        hdr.data.c = bump.execute(32w1);
        hdr.data.b = sum.execute(32w2);
        tm.ucast_egress_port = 1;
    }
}

control ID(packet_out pkt, inout headers_t hdr, in metadata_t meta) {
    apply {
        pkt.emit(hdr);
    }
}

parser EP(packet_in pkt, out headers_t hdr, out metadata_t meta, out egress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        transition accept;
    }
}

control E(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ED(packet_out pkt, inout headers_t hdr, in metadata_t meta) {
    apply { }
}

Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
