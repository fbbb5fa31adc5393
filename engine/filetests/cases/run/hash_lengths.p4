// Standard checks of lists of many lengths, of whole bytes and across them; `ab` is the string of their check values.
// packet 0 3132333435363738390102c0ffee0011223344fedcba9876540123456789abcdef8899aabbccddeeffb5a7
// expect 1 d4c183dcefb7bb3dcbf43926b2d02a17824ad9b44d130a6d41edb0d61ef6b33ac53cca29e547e86cf08f79680274cfdacdf8133dffbb804193589a292a3790d97e49359c6debf3d7c3ff74e5378b780004d44c65368b23ac675fb50e27e63e8f5f7d1b703192
#define OWN_TYPES
#define OWN_PARSER
#define OWN_DEPARSER
#include "include/v1.p4"

header fields_h {
    bit<8> a;
    bit<64> b;
    bit<16> c;
    bit<24> d;
    bit<40> e;
    bit<48> f;
    bit<64> g;
    bit<64> h;
    bit<3> i;
    bit<13> j;
}

header checks_h {
    bit<16> short_a;
    bit<32> long_a;
    bit<16> short_ab;
    bit<32> long_ab;
    bit<16> short_abc;
    bit<32> long_abc;
    bit<16> short_abcd;
    bit<32> long_abcd;
    bit<16> short_cde;
    bit<32> long_cde;
    bit<16> short_abcde;
    bit<32> long_abcde;
    bit<16> short_abcdef;
    bit<32> long_abcdef;
    bit<16> short_bghfe;
    bit<32> long_bghfe;
    bit<16> short_bcdefgh;
    bit<32> long_bcdefgh;
    bit<16> short_abcdefgh;
    bit<32> long_abcdefgh;
    bit<16> short_ij;
    bit<32> long_ij;
    bit<16> short_bij;
    bit<32> long_bij;
    bit<16> short_jib;
    bit<32> long_jib;
    bit<16> short_i;
    bit<32> long_i;
    bit<16> short_jb;
    bit<32> long_jb;
    bit<16> short_hij;
    bit<32> long_hij;
    bit<16> short_gjb;
    bit<32> long_gjb;
}

struct headers_t {
    fields_h fields;
    checks_h checks;
}

struct metadata_t { }

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.fields);
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        hdr.checks.setValid();
        hash(hdr.checks.short_a, HashAlgorithm.crc16, 16w0, { hdr.fields.a }, 32w0x10000);
        hash(hdr.checks.long_a, HashAlgorithm.crc32, 32w0, { hdr.fields.a }, 64w0x100000000);
        hash(hdr.checks.short_ab, HashAlgorithm.crc16, 16w0, { hdr.fields.a, hdr.fields.b }, 32w0x10000);
        hash(hdr.checks.long_ab, HashAlgorithm.crc32, 32w0, { hdr.fields.a, hdr.fields.b }, 64w0x100000000);
        hash(hdr.checks.short_abc, HashAlgorithm.crc16, 16w0, { hdr.fields.a, hdr.fields.b, hdr.fields.c }, 32w0x10000);
        hash(hdr.checks.long_abc, HashAlgorithm.crc32, 32w0, { hdr.fields.a, hdr.fields.b, hdr.fields.c }, 64w0x100000000);
        hash(hdr.checks.short_abcd, HashAlgorithm.crc16, 16w0, { hdr.fields.a, hdr.fields.b, hdr.fields.c, hdr.fields.d }, 32w0x10000);
        hash(hdr.checks.long_abcd, HashAlgorithm.crc32, 32w0, { hdr.fields.a, hdr.fields.b, hdr.fields.c, hdr.fields.d }, 64w0x100000000);
        hash(hdr.checks.short_cde, HashAlgorithm.crc16, 16w0, { hdr.fields.c, hdr.fields.d, hdr.fields.e }, 32w0x10000);
        hash(hdr.checks.long_cde, HashAlgorithm.crc32, 32w0, { hdr.fields.c, hdr.fields.d, hdr.fields.e }, 64w0x100000000);
        hash(hdr.checks.short_abcde, HashAlgorithm.crc16, 16w0, { hdr.fields.a, hdr.fields.b, hdr.fields.c, hdr.fields.d, hdr.fields.e }, 32w0x10000);
        hash(hdr.checks.long_abcde, HashAlgorithm.crc32, 32w0, { hdr.fields.a, hdr.fields.b, hdr.fields.c, hdr.fields.d, hdr.fields.e }, 64w0x100000000);
        hash(hdr.checks.short_abcdef, HashAlgorithm.crc16, 16w0, { hdr.fields.a, hdr.fields.b, hdr.fields.c, hdr.fields.d, hdr.fields.e, hdr.fields.f }, 32w0x10000);
        hash(hdr.checks.long_abcdef, HashAlgorithm.crc32, 32w0, { hdr.fields.a, hdr.fields.b, hdr.fields.c, hdr.fields.d, hdr.fields.e, hdr.fields.f }, 64w0x100000000);
        hash(hdr.checks.short_bghfe, HashAlgorithm.crc16, 16w0, { hdr.fields.b, hdr.fields.g, hdr.fields.h, hdr.fields.f, hdr.fields.e }, 32w0x10000);
        hash(hdr.checks.long_bghfe, HashAlgorithm.crc32, 32w0, { hdr.fields.b, hdr.fields.g, hdr.fields.h, hdr.fields.f, hdr.fields.e }, 64w0x100000000);
        hash(hdr.checks.short_bcdefgh, HashAlgorithm.crc16, 16w0, { hdr.fields.b, hdr.fields.c, hdr.fields.d, hdr.fields.e, hdr.fields.f, hdr.fields.g, hdr.fields.h }, 32w0x10000);
        hash(hdr.checks.long_bcdefgh, HashAlgorithm.crc32, 32w0, { hdr.fields.b, hdr.fields.c, hdr.fields.d, hdr.fields.e, hdr.fields.f, hdr.fields.g, hdr.fields.h }, 64w0x100000000);
        hash(hdr.checks.short_abcdefgh, HashAlgorithm.crc16, 16w0, { hdr.fields.a, hdr.fields.b, hdr.fields.c, hdr.fields.d, hdr.fields.e, hdr.fields.f, hdr.fields.g, hdr.fields.h }, 32w0x10000);
        hash(hdr.checks.long_abcdefgh, HashAlgorithm.crc32, 32w0, { hdr.fields.a, hdr.fields.b, hdr.fields.c, hdr.fields.d, hdr.fields.e, hdr.fields.f, hdr.fields.g, hdr.fields.h }, 64w0x100000000);
        hash(hdr.checks.short_ij, HashAlgorithm.crc16, 16w0, { hdr.fields.i, hdr.fields.j }, 32w0x10000);
        hash(hdr.checks.long_ij, HashAlgorithm.crc32, 32w0, { hdr.fields.i, hdr.fields.j }, 64w0x100000000);
        hash(hdr.checks.short_bij, HashAlgorithm.crc16, 16w0, { hdr.fields.b, hdr.fields.i, hdr.fields.j }, 32w0x10000);
        hash(hdr.checks.long_bij, HashAlgorithm.crc32, 32w0, { hdr.fields.b, hdr.fields.i, hdr.fields.j }, 64w0x100000000);
        hash(hdr.checks.short_jib, HashAlgorithm.crc16, 16w0, { hdr.fields.j, hdr.fields.i, hdr.fields.b }, 32w0x10000);
        hash(hdr.checks.long_jib, HashAlgorithm.crc32, 32w0, { hdr.fields.j, hdr.fields.i, hdr.fields.b }, 64w0x100000000);
        hash(hdr.checks.short_i, HashAlgorithm.crc16, 16w0, { hdr.fields.i }, 32w0x10000);
        hash(hdr.checks.long_i, HashAlgorithm.crc32, 32w0, { hdr.fields.i }, 64w0x100000000);
        hash(hdr.checks.short_jb, HashAlgorithm.crc16, 16w0, { hdr.fields.j, hdr.fields.b }, 32w0x10000);
        hash(hdr.checks.long_jb, HashAlgorithm.crc32, 32w0, { hdr.fields.j, hdr.fields.b }, 64w0x100000000);
        hash(hdr.checks.short_hij, HashAlgorithm.crc16, 16w0, { hdr.fields.h, hdr.fields.i, hdr.fields.j }, 32w0x10000);
        hash(hdr.checks.long_hij, HashAlgorithm.crc32, 32w0, { hdr.fields.h, hdr.fields.i, hdr.fields.j }, 64w0x100000000);
        hash(hdr.checks.short_gjb, HashAlgorithm.crc16, 16w0, { hdr.fields.g, hdr.fields.j, hdr.fields.b }, 32w0x10000);
        hash(hdr.checks.long_gjb, HashAlgorithm.crc32, 32w0, { hdr.fields.g, hdr.fields.j, hdr.fields.b }, 64w0x100000000);
    }
}

control D(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.checks);
    }
}

#include "include/pipe.p4"
