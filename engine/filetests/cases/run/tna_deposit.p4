// TNA: a parser subtracts what it extracts behind `subtract_all_and_deposit`.
// The sum is that of 16-bit words. Of 01 02 0000abcd nothing is extracted behind the call: ffff - abcd.
// packet 0 01 02 0000abcd
// expect 1 01 02 00005432
// A second header is subtracted too; a byte of zeros stands behind its last one.
// packet 0 20 02 00000001 020304
// expect 1 20 02 0000f8fc 020304
// Without the call the field stays as it is.
// packet 0 30 02 00000001 020304
// expect 1 30 02 00000000 020304
#include <core.p4>
#include <tna.p4>

header data_t {
    bit<8> a;
    bit<8> b;
    bit<32> c;
}

header more_t {
    bit<8> x;
    bit<16> y;
}

struct headers_t {
    data_t data;
    more_t more;
}

struct metadata_t {
    bit<16> rest;
}

parser IP(packet_in pkt, out headers_t hdr, out metadata_t meta, out ingress_intrinsic_metadata_t intr) {
    Checksum() sum;
    state start {
        pkt.extract(intr);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.data);
        sum.subtract({ hdr.data.c });
        transition select(hdr.data.a) {
            0x30: more;
            default: deposits;
        }
    }
    state deposits {
        sum.subtract_all_and_deposit(meta.rest);
        transition select(hdr.data.a) {
            0x20: more;
            default: accept;
        }
    }
    state more {
        pkt.extract(hdr.more);
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t intr,
          in ingress_intrinsic_metadata_from_parser_t prsr, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
          inout ingress_intrinsic_metadata_for_tm_t tm) {
    apply {
        tm.ucast_egress_port = 1;
        tm.bypass_egress = 1;
        hdr.data.c = 16w0 ++ meta.rest;
    }
}

#include "include/tna_tail.p4"
