// TNA: externs. CRC-32 of 31..39 is cbf43926, by a polynomial of its own (BZIP2) fc891918.
// register I.half 1 0x0000000500000009
// register I.add 0 3
// add I.tag 0x09 => I.mark(7)
// A register action gives back what was there; a second one of the same register another cell.
// packet 0 01 00 00000000
// expect 1 01 00 00000000
// packet 0 01 00 00000000
// expect 1 01 00 00000003
// expect_register I.sums 0 6
// Two halves of 32 bits: one counts, the other keeps the largest.
// packet 0 02 00 00000007
// expect 1 02 00 00000006
// expect_register I.half 1 0x0000000600000009
// packet 0 02 00 0000000a
// expect 1 02 00 00000007
// expect_register I.half 1 0x000000070000000a
// packet 0 03 00 00000000
// expect 1 03 00 cbf43926
// packet 0 04 00 00000000
// expect 1 04 00 fc891918
// The lowest bits of the data.
// packet 0 05 12 00000034
// expect 1 05 12 00001234
// The complement of 0600 + 1234 + 5678; the parser's own check says whether its sum is wrong.
// packet 0 06 00 12345678
// expect 1 06 00 00009153
// packet 0 06 05 12345678
// expect 1 06 01 00009153
// The larger, and the smaller.
// packet 0 07 04 00000000
// expect 1 07 04 00040007
// A shift over two fields.
// packet 0 08 f0 00000000
// expect 1 08 f0 0000000f
// An action of a table, on a direct counter.
// packet 0 09 00 00000000
// expect 1 09 00 00000007
// The counter of the parser skips as many bytes as the packet says.
// packet 0 20 02 aabb 00000001
// expect 1 20 02 00000001
// Types of a field's size.
// packet 0 0c 00 00000000
// expect 1 0c 00 00300006
#include "include/tna_pipe.p4"

header wide_t {
    bit<8> a;
    bit<8> b;
    bit<32> c;
}

header byte_t {
    bit<8> value;
}

struct headers_t {
    wide_t data;
}

struct metadata_t {
    byte_t skipped;
    bit<8> first;
    bool wrong;
}

struct pair {
    bit<32> high;
    bit<32> low;
}

struct port_t {
    bit<16> kind;
}

parser IP(packet_in pkt, out headers_t hdr, out metadata_t meta, out ingress_intrinsic_metadata_t intr) {
    ParserCounter() left;
    Checksum() sum;
    state start {
        pkt.extract(intr);
        port_t port = port_metadata_unpack<port_t>(pkt);
        bit<16> ahead = pkt.lookahead<bit<16>>();
        transition select(ahead[15:8], port.kind) {
            (0x20, 0): skip;
            default: data;
        }
    }
    state skip {
        bit<16> ahead = pkt.lookahead<bit<16>>();
        left.set(ahead[7:0]);
        pkt.extract(meta.skipped);
        pkt.extract(meta.skipped);
        transition each;
    }
    state each {
        pkt.extract(meta.skipped);
        left.decrement(1);
        transition select(left.is_zero(), left.is_negative()) {
            (true, _): rest;
            (_, true): reject;
            default: each;
        }
    }
    state rest {
        bit<32> c = pkt.lookahead<bit<32>>();
        pkt.advance(32);
        hdr.data.setValid();
        hdr.data.a = 0x20;
        hdr.data.b = 2;
        hdr.data.c = c;
        transition accept;
    }
    state data {
        pkt.extract(hdr.data);
        sum.add(hdr.data);
        sum.subtract({ hdr.data.a, hdr.data.b });
        sum.subtract({ hdr.data.c });
        sum.add({ 16w0xffff });
        sum.add({ 8w0, hdr.data.b });
        meta.wrong = sum.verify();
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t intr,
          in ingress_intrinsic_metadata_from_parser_t prsr, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
          inout ingress_intrinsic_metadata_for_tm_t tm) {
    Register<bit<32>, bit<8>>(4) sums;
    RegisterParam<bit<32>>(1) add;
    RegisterAction<bit<32>, bit<8>, bit<32>>(sums) step = {
        void apply(inout bit<32> value, out bit<32> before) {
            before = value;
            value = value + add.read();
        }
    };
    Register<pair, bit<8>>(4) half;
    RegisterAction<pair, bit<8>, bit<32>>(half) both = {
        void apply(inout pair value, out bit<32> count) {
            value.high = value.high + 1;
            if (hdr.data.c > value.low) {
                value.low = hdr.data.c;
            }
            count = value.high;
        }
    };
    Hash<bit<32>>(HashAlgorithm_t.CRC32) crc;
    CRCPolynomial<bit<32>>(0x04c11db7, false, false, false, 0xffffffff, 0xffffffff) bzip2;
    Hash<bit<32>>(HashAlgorithm_t.CUSTOM, bzip2) own;
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) plain;
    DirectCounter<bit<32>>(CounterType_t.PACKETS) hits;
    action mark(bit<32> value) {
        hits.count();
        hdr.data.c = value;
    }
    table tag {
        key = { hdr.data.a: exact; }
        actions = { mark; NoAction; }
        const default_action = NoAction;
        counters = hits;
        size = 16;
    }
    apply {
        tm.ucast_egress_port = 1;
        tm.bypass_egress = 1;
        if (hdr.data.a == 1) {
            hdr.data.c = step.execute(0);
        } else if (hdr.data.a == 2) {
            hdr.data.c = both.execute(1);
        } else if (hdr.data.a == 3) {
            hdr.data.c = crc.get({ 72w0x313233343536373839 });
        } else if (hdr.data.a == 4) {
            hdr.data.c = own.get({ 72w0x313233343536373839 });
        } else if (hdr.data.a == 5) {
            hdr.data.c = (bit<32>) plain.get({ hdr.data.b, hdr.data.c[7:0] });
        } else if (hdr.data.a == 6) {
            hdr.data.b = meta.wrong ? 8w1 : 0;
        } else if (hdr.data.a == 7) {
            hdr.data.c = max(8w0 ++ hdr.data.b, 16w4) ++ min(16w7, 8w1 ++ hdr.data.b);
        } else if (hdr.data.a == 8) {
            funnel_shift_right(hdr.data.c, 32w0, (bit<32>) hdr.data.b, 4);
        } else if (hdr.data.a == 0xc) {
            hdr.data.c = sizeInBits(hdr.data) << 16 | sizeInBytes(hdr.data);
        } else {
            tag.apply();
        }
    }
}

control ID(packet_out pkt, inout headers_t hdr, in metadata_t meta,
           in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    Checksum() sum;
    apply {
        if (hdr.data.a == 6) {
            hdr.data.c = 16w0 ++ sum.update({ 16w0x0600, hdr.data.c });
        }
        pkt.emit(hdr);
    }
}

struct none_t { }

parser EP(packet_in pkt, out none_t hdr, out none_t meta, out egress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        transition accept;
    }
}

control E(inout none_t hdr, inout none_t meta, in egress_intrinsic_metadata_t intr) {
    apply { }
}

control ED(packet_out pkt, inout none_t hdr, in none_t meta) {
    apply { }
}

Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
