// Choice among equal paths on v1model. `tna.p4` of this folder has
// the same for TNA; whichever file a program includes first counts.

#ifndef P4CC_ECMP
#define P4CC_ECMP

#include "../include/headers.p4"
#include "../include/sizes.p4"

// A selector of next hops with this name.
#define ECMP_SELECTOR(NAME) \
    @max_group_size(ECMP_MAX_GROUP_SIZE) \
    action_selector(HashAlgorithm.crc16, ECMP_SELECTOR_SIZE, ECMP_HASH_WIDTH) NAME

// Switches that hash the same fields alike choose alike, so that a second
// stage would send all that it gets one way. A CRC with a seed among its
// fields only permutes the choice: CRCs are linear. The product is not.
control EcmpSalt(in headers_t hdr, in bit<32> seed, out bit<16> salt) {
    apply {
        // No factor, no salt. Only a group asks for it.
        bit<32> crc;
        hash(crc, HashAlgorithm.crc32, 32w0,
             { hdr.ipv4.src_addr, hdr.ipv4.dst_addr, hdr.ipv4.protocol, hdr.l4_ports.src_port,
               hdr.l4_ports.dst_port },
             64w0x100000000);
        salt = (crc * seed)[31:16];
    }
}

#endif
