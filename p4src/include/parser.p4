// Ethernet, IPv4 and the ports of UDP or TCP; whatever follows is payload. Needs the program's `headers_t`.

#ifndef P4CC_PARSER
#define P4CC_PARSER

#include "headers.p4"

parser PacketParser(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_IPV4: parse_ipv4;
            default: accept;
        }
    }

    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        verify(hdr.ipv4.version == 4, error.Ipv4VersionWrong);
        verify(hdr.ipv4.ihl == 5, error.Ipv4OptionsNotSupported);
        // Only a datagram's first fragment carries ports.
        transition select(hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (0, IP_PROTOCOL_UDP): parse_l4_ports;
            (0, IP_PROTOCOL_TCP): parse_l4_ports;
            default: accept;
        }
    }

    state parse_l4_ports {
        packet.extract(hdr.l4_ports);
        transition accept;
    }
}

#endif
