// Shifts by more than the width, division by zero, hashes of no range and of every algorithm.
#include "../../../engine/filetests/cases/run/include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        if (hdr.data.a == 1) {
            hdr.data.d = hdr.data.d << hdr.data.c;
        } else if (hdr.data.a == 2) {
            hdr.data.d = hdr.data.d >> hdr.data.c;
        } else if (hdr.data.a == 3) {
            hdr.data.d = (bit<32>) ((int<32>) hdr.data.d >> hdr.data.c);
        } else if (hdr.data.a == 4) {
            hdr.data.d = hdr.data.d / (bit<32>) hdr.data.b;
        } else if (hdr.data.a == 5) {
            hdr.data.d = hdr.data.d % (bit<32>) hdr.data.b;
        } else if (hdr.data.a == 6) {
            hash(hdr.data.d, HashAlgorithm.crc32, 32w5, { hdr.data.b }, 32w0);
        } else if (hdr.data.a == 7) {
            hash(hdr.data.d, HashAlgorithm.crc32, 32w5, { hdr.data.c, hdr.data.d }, 64w0x100000000);
        } else if (hdr.data.a == 8) {
            hash(hdr.data.d, HashAlgorithm.crc16, 32w0, { hdr.data.c, hdr.data.d }, 64w0x100000000);
        } else if (hdr.data.a == 9) {
            hash(hdr.data.d, HashAlgorithm.csum16, 32w0, { hdr.data.c, hdr.data.d }, 64w0x100000000);
        } else if (hdr.data.a == 10) {
            hash(hdr.data.d, HashAlgorithm.xor16, 32w0, { hdr.data.b, hdr.data.d }, 64w0x100000000);
        } else if (hdr.data.a == 11) {
            hash(hdr.data.d, HashAlgorithm.identity, 32w0, { hdr.data.c, hdr.data.d }, 64w0x100000000);
        } else if (hdr.data.a == 12) {
            hash(hdr.data.d, HashAlgorithm.crc16, 32w3, { hdr.data.c, hdr.data.d }, 32w7);
        }
    }
}

#include "../../../engine/filetests/cases/run/include/pipe.p4"
