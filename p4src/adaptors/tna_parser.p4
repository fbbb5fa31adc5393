// Ethernet, IPv4 and the ports of UDP or TCP on Tofino, where a parser state selects by what it took
// itself and `verify` does nothing. Needs the program's `headers_t`.

#ifndef P4CC_TNA_PARSER
#define P4CC_TNA_PARSER

#include "../include/headers.p4"

// Options, other versions than 4 and wrong checksums: such a packet is not forwarded.
parser IngressPacketParser(packet_in packet, out headers_t hdr, out bool checksum_error) {
    Checksum() ipv4_checksum;

    state start {
        checksum_error = false;
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_IPV4: parse_ipv4;
            default: accept;
        }
    }

    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        ipv4_checksum.add(hdr.ipv4);
        checksum_error = ipv4_checksum.verify();
        // Only a datagram's first fragment carries ports. What no case fits is dropped:
        // to the chip `reject` is an end of the parser like `accept`.
        transition select(hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (4, 5, 0, IP_PROTOCOL_UDP): parse_l4_ports;
            (4, 5, 0, IP_PROTOCOL_TCP): parse_l4_ports;
            (4, 5, _, _): accept;
        }
    }

    state parse_l4_ports {
        packet.extract(hdr.l4_ports);
        transition accept;
    }
}

// Egress needs no more than the IPv4 header, which ingress has looked at.
parser EgressPacketParser(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_IPV4: parse_ipv4;
            default: accept;
        }
    }

    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        transition accept;
    }
}

#endif
