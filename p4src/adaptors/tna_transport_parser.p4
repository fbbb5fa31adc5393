// What tna_parser.p4 has, and the transport header of packets to our port. Needs the program's `headers_t`,
// with `udp` and `transport`, and a parser of its own that takes a data packet's extension behind the
// transport header:
//
//     parser ExtensionParser(packet_in packet, inout headers_t hdr)

#ifndef P4CC_TNA_TRANSPORT_PARSER
#define P4CC_TNA_TRANSPORT_PARSER

#include "../include/transport.p4"

// Options, other versions than 4 and wrong checksums: such a packet is not forwarded. Ingress needs no
// extension.
parser IngressTransportParser(packet_in packet, out headers_t hdr, out bool checksum_error) {
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
            (4, 5, 0, IP_PROTOCOL_UDP): parse_udp_ports;
            (4, 5, 0, IP_PROTOCOL_TCP): parse_tcp_ports;
            (4, 5, _, _): accept;
        }
    }

    state parse_tcp_ports {
        packet.extract(hdr.l4_ports);
        transition accept;
    }

    state parse_udp_ports {
        packet.extract(hdr.l4_ports);
        transition select(hdr.l4_ports.dst_port) {
            TRANSPORT_PORT: parse_udp;
            default: accept;
        }
    }

    // Our packets have the UDP checksum 0; another one is somebody else's, and could not be kept right.
    state parse_udp {
        packet.extract(hdr.udp);
        transition select(hdr.udp.checksum) {
            0: parse_transport;
            default: accept;
        }
    }

    state parse_transport {
        packet.extract(hdr.transport);
        transition accept;
    }
}

// The same packets behind ingress, down to the extension. ACKs carry copies of extensions that no switch
// may touch.
parser EgressTransportParser(packet_in packet, out headers_t hdr) {
    ExtensionParser() extension;

    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_IPV4: parse_ipv4;
            default: accept;
        }
    }

    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (0, IP_PROTOCOL_UDP): parse_udp_ports;
            default: accept;
        }
    }

    state parse_udp_ports {
        packet.extract(hdr.l4_ports);
        transition select(hdr.l4_ports.dst_port) {
            TRANSPORT_PORT: parse_udp;
            default: accept;
        }
    }

    state parse_udp {
        packet.extract(hdr.udp);
        transition select(hdr.udp.checksum) {
            0: parse_transport;
            default: accept;
        }
    }

    state parse_transport {
        packet.extract(hdr.transport);
        transition select(hdr.transport.version, hdr.transport.packet_type) {
            (TRANSPORT_VERSION, PACKET_TYPE_DATA): parse_extension;
            default: accept;
        }
    }

    state parse_extension {
        extension.apply(packet, hdr);
        transition accept;
    }
}

#endif
