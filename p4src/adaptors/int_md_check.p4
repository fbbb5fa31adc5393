// Whether a packet of INT-MD may grow and by how much, as a software switch finds out. `tna_int_md.p4`
// of this folder has the same for the chip; whichever file a program includes first counts.

#ifndef P4CC_INT_MD_CHECK
#define P4CC_INT_MD_CHECK

#include "../include/transport.p4"
#include "../include/int.p4"
#include "../controls/grow.p4"

// Words of four bytes that a hop adds for these instructions: one for each bit, two for bits 4, 5 and 6.
bit<5> int_md_words(in bit<16> asked) {
    bit<5> high = (bit<5>)asked[15:15] + (bit<5>)asked[14:14] + (bit<5>)asked[13:13] + (bit<5>)asked[12:12]
        + (bit<5>)(asked[11:11] ++ 1w0) + (bit<5>)(asked[10:10] ++ 1w0) + (bit<5>)(asked[9:9] ++ 1w0)
        + (bit<5>)asked[8:8];
    bit<5> low = (bit<5>)asked[7:7] + (bit<5>)asked[6:6] + (bit<5>)asked[5:5] + (bit<5>)asked[4:4]
        + (bit<5>)asked[3:3] + (bit<5>)asked[2:2] + (bit<5>)asked[1:1] + (bit<5>)asked[0:0];
    return high + low;
}

// Shim, metadata header and extension are of the version known here and agree on their length.
bool int_md_is_sound(in transport_h transport, in int_md_shim_h shim, in int_md_h md) {
    bit<10> bytes = (bit<10>)shim.length_words << 2;
    return shim.int_type == INT_TYPE_MD && md.version == INT_MD_VERSION && shim.length_words >= INT_MD_HEADER_WORDS
        && bytes + INT_MD_SHIM_BYTES == (bit<10>)transport.extension_len;
}

// `words` are what this hop adds, `growth` and `extension_growth` the same in bytes. Sound is what this
// switch understands; too long what the link or the extension's length cannot carry.
control IntMdCheck(in ipv4_h ipv4, in udp_h udp, in transport_h transport, in int_md_shim_h shim, in int_md_h md,
                   in bit<16> mtu_bytes, out bit<8> words, out bit<16> growth, out bit<8> extension_growth,
                   out bool is_sound, out bool is_too_long) {
    apply {
        words = (bit<8>)int_md_words(md.instructions);
        extension_growth = words << 2;
        growth = (bit<16>)extension_growth;
        bit<16> extension_bytes = (bit<16>)transport.extension_len + growth;
        is_sound = (bit<8>)md.hop_words == words && can_grow(ipv4, udp) && int_md_is_sound(transport, shim, md);
        is_too_long = ipv4.total_len + growth > mtu_bytes || extension_bytes > 255;
    }
}

// Words of which a hop's metadata take two fields each: ports, and queue with its depth.
control IntMdPairs(in port_t ingress_port, in port_t egress_port, in priority_t queue, in queue_depth_t depth,
                   out bit<32> port_pair, out bit<32> queue_pair) {
    apply {
        port_pair = (bit<16>)ingress_port ++ (bit<16>)egress_port;
        queue_pair = (bit<8>)queue ++ (bit<24>)depth;
    }
}

#endif
