// PacketParser, then UDP and the transport header of packets to our port. Needs the program's `headers_t`,
// with `udp` and `transport` besides those of PacketParser.

#ifndef P4CC_TRANSPORT_PARSER
#define P4CC_TRANSPORT_PARSER

#include "transport.p4"
#include "parser.p4"

// `extension` is the code of a data packet's extension, which starts at the cursor, and EXTENSION_NONE for
// every other packet: ACKs carry copies of extensions that no switch may touch.
parser TransportParser(packet_in packet, out headers_t hdr, out bit<8> extension) {
    PacketParser() lower;

    state start {
        extension = EXTENSION_NONE;
        lower.apply(packet, hdr);
        transition select(hdr.ethernet.ether_type, hdr.ipv4.frag_offset, hdr.ipv4.protocol, hdr.l4_ports.dst_port) {
            (ETHERTYPE_IPV4, 0, IP_PROTOCOL_UDP, TRANSPORT_PORT): parse_udp;
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
        transition select(hdr.transport.version, hdr.transport.packet_type) {
            (TRANSPORT_VERSION, PACKET_TYPE_DATA): parse_extension;
            default: accept;
        }
    }

    state parse_extension {
        extension = hdr.transport.extension_type;
        transition accept;
    }
}

#endif
