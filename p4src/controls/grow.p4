// A packet whose extension grows: every length that covers it.

#ifndef P4CC_GROW
#define P4CC_GROW

#include "../include/transport.p4"

// The lengths say the same thing and leave room: only such a packet may grow.
bool can_grow(in ipv4_h ipv4, in udp_h udp) {
    return ipv4.total_len <= GROWTH_LIMIT_BYTES && udp.length + IPV4_HEADER_BYTES == ipv4.total_len;
}

// Both are the same number: a chip moves none between fields of different widths.
void grow_packet(inout ipv4_h ipv4, inout udp_h udp, inout transport_h transport, in bit<16> bytes,
                 in bit<8> extension_bytes) {
    ipv4.total_len = ipv4.total_len + bytes;
    udp.length = udp.length + bytes;
    transport.extension_len = transport.extension_len + extension_bytes;
}

#endif
