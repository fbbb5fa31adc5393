// The IPv4 header checksum of what leaves a switch on Tofino. Needs the program's `headers_t`.

#ifndef P4CC_TNA_DEPARSER
#define P4CC_TNA_DEPARSER

#include "../include/headers.p4"

control ComputeIpv4Checksum(inout headers_t hdr) {
    Checksum() ipv4_checksum;

    apply {
        if (hdr.ipv4.isValid()) {
            hdr.ipv4.hdr_checksum = ipv4_checksum.update(
                { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len,
                  hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.ttl,
                  hdr.ipv4.protocol, hdr.ipv4.src_addr, hdr.ipv4.dst_addr });
        }
    }
}

#endif
