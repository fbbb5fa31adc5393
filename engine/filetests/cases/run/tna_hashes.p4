// TNA: hash functions, and what the control plane makes of them. Check values are those of 31..39.
// packet 0 01 00 00000000
// expect 1 01 00 000000f4
// packet 0 02 00 00000000
// expect 1 02 00 6c40df5f
// packet 0 03 00 00000000
// expect 1 03 00 0b497347
// Sixteen bits in 32 are repeated, of a polynomial of the program's own if it says so.
// packet 0 04 00 00000000
// expect 1 04 00 bb3dbb3d
// packet 0 05 00 00000000
// expect 1 05 00 31c331c3
// The highest eight bits of the check.
// packet 0 06 00 00000000
// expect 1 06 00 00000031
// Exclusive or of bytes, and of 32-bit words, the last filled with zeros.
// packet 0 07 00 00000000
// expect 1 07 00 00000031
// packet 0 08 00 00000000
// expect 1 08 00 3d04040c
// A function that looks random is the same for the same data.
// packet 0 09 05 00001234
// expect 1 09 05 9b8ba62e
// Symmetric: both halves exchanged give the same.
// packet 0 0a 00 12345678
// expect 1 0a 00 a7cde368
// packet 0 0a 00 56781234
// expect 1 0a 00 a7cde368
// The control plane gives another function, and the program's again.
// set_hash I.dynamic crc_32_bzip2
// packet 0 0b 31 32333435
// expect 1 0b 31 426548b8
// set_hash I.dynamic identity
// packet 0 0b 31 32333435
// expect 1 0b 31 32333435
// Parts of the fields in another order: the low byte of the second, then the high nibble of the first.
// set_hash_fields I.dynamic 1:0:8:1 0:4:4:2
// packet 0 0b 31 32333435
// expect 1 0b 31 00000353
// Two symmetric parts.
// set_hash_fields I.dynamic 1:0:8:1 1:8:8:1
// packet 0 0b 31 32333435
// expect 1 0b 31 00000101
// set_hash_fields I.dynamic
// set_hash I.dynamic program
// packet 0 0b 31 32333435
// expect 1 0b 31 cbf53a1c
// Turned by four bits; the control plane computes the same, and of a result in part what is used.
// set_hash_rotation I.dynamic 4
// packet 0 0b 31 32333435
// expect 1 0b 31 bf53a1cc
// expect_hash I.dynamic 0x31 0x32333435 => 0xbf53a1cc
// expect_hash I.high 0x31 => 0xd400
// packet 0 0d 31 00000000
// expect 1 0d 31 000000d4
// Fields of an invalid header are part of the data, as zeros.
// packet 0 0c 00 00000000
// expect 1 0c 00 000084c0
#include "include/tna_head.p4"

header two_t {
    bit<16> value;
}

control I(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t intr,
          in ingress_intrinsic_metadata_from_parser_t prsr, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
          inout ingress_intrinsic_metadata_for_tm_t tm) {
    Hash<bit<8>>(HashAlgorithm_t.CRC8) crc8;
    Hash<bit<64>>(HashAlgorithm_t.CRC64) crc64;
    Hash<bit<32>>(HashAlgorithm_t.CRC16) narrow;
    CRCPolynomial<bit<16>>(0x1021, false, false, true, 0, 0) repeated;
    Hash<bit<32>>(HashAlgorithm_t.CUSTOM, repeated) xmodem;
    CRCPolynomial<bit<16>>(0x1021, false, true, false, 0, 0) from_top;
    Hash<bit<8>>(HashAlgorithm_t.CUSTOM, from_top) top;
    Hash<bit<8>>(HashAlgorithm_t.XOR8) xor8;
    Hash<bit<32>>(HashAlgorithm_t.XOR32) xor32;
    Hash<bit<32>>(HashAlgorithm_t.RANDOM) random;
    @symmetric("hdr.data.c[31:16]", "hdr.data.c[15:0]")
    Hash<bit<32>>(HashAlgorithm_t.CRC32) symmetric;
    Hash<bit<32>>(HashAlgorithm_t.CRC32) dynamic;
    Hash<bit<16>>(HashAlgorithm_t.CRC16) high;
    CRCPolynomial<bit<16>>(0x1021, false, false, false, 0x1d0f, 0) aug;
    Hash<bit<16>>(HashAlgorithm_t.CUSTOM, aug) invalid;
    apply {
        tm.ucast_egress_port = 1;
        tm.bypass_egress = 1;
        two_t none;
        bit<72> digits = 72w0x313233343536373839;
        if (hdr.data.a == 1) {
            hdr.data.c = 24w0 ++ crc8.get({ digits });
        } else if (hdr.data.a == 2) {
            hdr.data.c = crc64.get({ digits })[63:32];
        } else if (hdr.data.a == 3) {
            hdr.data.c = crc64.get({ digits })[31:0];
        } else if (hdr.data.a == 4) {
            hdr.data.c = narrow.get({ digits });
        } else if (hdr.data.a == 5) {
            hdr.data.c = xmodem.get({ digits });
        } else if (hdr.data.a == 6) {
            hdr.data.c = 24w0 ++ top.get({ digits });
        } else if (hdr.data.a == 7) {
            hdr.data.c = 24w0 ++ xor8.get({ digits });
        } else if (hdr.data.a == 8) {
            hdr.data.c = xor32.get({ digits });
        } else if (hdr.data.a == 9) {
            hdr.data.c = random.get({ hdr.data.b, hdr.data.c });
        } else if (hdr.data.a == 0xa) {
            hdr.data.c = symmetric.get({ hdr.data.c[31:16], hdr.data.c[15:0] });
        } else if (hdr.data.a == 0xb) {
            hdr.data.c = dynamic.get({ hdr.data.b, hdr.data.c });
        } else if (hdr.data.a == 0xd) {
            hdr.data.c = 24w0 ++ high.get({ hdr.data.b })[15:8];
        } else {
            hdr.data.c = 16w0 ++ invalid.get({ none.value });
        }
    }
}

#include "include/tna_tail.p4"
