// T2NA: actions on words of 128 bits, with several results; registers that a packet clears; packets that the
// deparser cuts. Byte `a` says what to do, `b` is the mask.
// register I.words 2 0x0f0e0d0c0b0a09080706050403020109
// The least byte of the lower half but the lowest, and which it is.
// packet 0 01 fe 0000 aabbccdd
// expect 1 01 fe 0101 aabbccdd
// The greatest of the same.
// packet 0 02 ff 0000 aabbccdd
// expect 1 02 ff 0009 aabbccdd
// The greatest and the least of 16 bits.
// packet 0 03 ff 0000 aabbccdd
// expect 1 07 ff 0f0e aabbccdd
// packet 0 04 06 0000 aabbccdd
// expect 1 01 06 0302 aabbccdd
// The mask names none.
// packet 0 01 00 0000 aabbccdd
// expect 1 01 00 0000 aabbccdd
// Two results of one action, of different types.
// register I.pairs 1 0x00010203
// packet 0 05 10 0000 aabbccdd
// expect 1 05 03 0001 aabbccdd
// expect_register I.pairs 1 0x00110213
// All cells of a register, those of the entries of a table too.
// add I.counted 0x06 => I.tell()
// packet 0 06 00 0000 aabbccdd
// expect 1 06 01 0000 aabbccdd
// packet 0 06 00 0000 aabbccdd
// expect 1 06 02 0000 aabbccdd
// packet 0 07 00 0000 aabbccdd
// expect 1 07 00 0000 aabbccdd
// expect_register I.pairs 1 0x00050006
// expect_register I.pairs 7 0x00050006
// expect_register I.words 2 0
// packet 0 06 00 0000 aabbccdd
// expect 1 06 41 0000 aabbccdd
// Cut to 10 bytes with their check sequence by egress, to 9 by ingress; a shorter packet stays.
// packet 0 08 0a 0000 aabbccdd
// expect 1 08 0a 0000 aabb
// packet 0 08 40 0000 aabbccdd
// expect 1 08 40 0000 aabbccdd
// packet 0 09 09 0000 aabbccdd
// expect 1 09 09 0000 aa
// packet 0 09 02 0000 aabbccdd
// expect 1
#include <core.p4>
#include <t2na.p4>

header data_t {
    bit<8> a;
    bit<8> b;
    bit<16> c;
}

struct headers_t {
    data_t data;
}

struct metadata_t { }

struct pair_t {
    bit<16> high;
    bit<16> low;
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
    Register<bit<128>, bit<3>>(8) words;
    Register<pair_t, bit<3>>(8, { 5, 6 }) pairs;
    DirectRegister<bit<8>>() hits;
    MinMaxAction2<bit<128>, bit<3>, bit<8>, bit<4>>(words) least8 = {
        void apply(inout bit<128> value, out bit<8> least, out bit<4> which) {
            least = this.min8(value, 8w0 ++ hdr.data.b, which);
        }
    };
    MinMaxAction<bit<128>, bit<3>, bit<8>>(words) greatest8 = {
        void apply(inout bit<128> value, out bit<8> greatest) {
            greatest = this.max8(value, 8w0 ++ hdr.data.b);
        }
    };
    MinMaxAction2<bit<128>, bit<3>, bit<16>, bit<3>>(words) greatest16 = {
        void apply(inout bit<128> value, out bit<16> greatest, out bit<3> which) {
            greatest = this.max16(value, hdr.data.b, which);
        }
    };
    MinMaxAction2<bit<128>, bit<3>, bit<16>, bit<3>>(words) least16 = {
        void apply(inout bit<128> value, out bit<16> least, out bit<3> which) {
            least = this.min16(value, hdr.data.b, which);
        }
    };
    RegisterAction2<pair_t, bit<3>, bit<16>, bit<8>>(pairs) both = {
        void apply(inout pair_t value, out bit<16> high, out bit<8> low) {
            high = value.high;
            low = value.low[7:0];
            value.high = value.high + (bit<16>) hdr.data.b;
            value.low = value.low + (bit<16>) hdr.data.b;
        }
    };
    DirectRegisterAction<bit<8>, bit<8>>(hits) hit = {
        void apply(inout bit<8> value, out bit<8> result) {
            value = value + 1;
            result = value;
        }
    };
    action tell() {
        hdr.data.b = hit.execute();
    }
    table counted {
        key = { hdr.data.a: exact; }
        actions = { tell; NoAction; }
        registers = hits;
        size = 4;
        default_action = NoAction;
    }
    apply {
        tm.ucast_egress_port = 1;
        bit<4> byte = 0;
        bit<3> pair = 0;
        if (hdr.data.a == 1) {
            hdr.data.c[7:0] = least8.execute(2, byte);
            hdr.data.c[15:8] = 4w0 ++ byte;
        } else if (hdr.data.a == 2) {
            hdr.data.c[7:0] = greatest8.execute(2);
        } else if (hdr.data.a == 3) {
            hdr.data.c = greatest16.execute(2, pair);
            hdr.data.a = 5w0 ++ pair;
        } else if (hdr.data.a == 4) {
            hdr.data.c = least16.execute(2, pair);
            hdr.data.a = 5w0 ++ pair;
        } else if (hdr.data.a == 5) {
            hdr.data.c = both.execute(1, hdr.data.b);
        } else if (hdr.data.a == 6) {
            counted.apply();
        } else if (hdr.data.a == 7) {
            pairs.clear({ 5, 6 });
            words.clear(0);
            hits.clear(0x40, 0xff);
        } else if (hdr.data.a == 9) {
            dprsr.mtu_trunc_len = 6w0 ++ hdr.data.b;
        }
    }
}

control ID(packet_out pkt, inout headers_t hdr, in metadata_t meta,
           in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    apply {
        pkt.emit(hdr);
    }
}

parser EP(packet_in pkt, out headers_t hdr, out metadata_t meta, out egress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        transition select(pkt.lookahead<bit<8>>()) {
            8: data;
            default: accept;
        }
    }
    state data {
        pkt.extract(hdr.data);
        transition accept;
    }
}

control E(inout headers_t hdr, inout metadata_t meta, in egress_intrinsic_metadata_t intr,
          in egress_intrinsic_metadata_from_parser_t prsr, inout egress_intrinsic_metadata_for_deparser_t dprsr,
          inout egress_intrinsic_metadata_for_output_port_t oport) {
    apply {
        if (hdr.data.isValid()) {
            dprsr.mtu_trunc_len = 6w0 ++ hdr.data.b;
        }
    }
}

control ED(packet_out pkt, inout headers_t hdr, in metadata_t meta,
           in egress_intrinsic_metadata_for_deparser_t dprsr) {
    apply {
        pkt.emit(hdr);
    }
}

Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
