// D3's grants on Tofino, which measures and stamps; the controller allots.

#include <core.p4>
#include <tna.p4>

#include "../include/headers.p4"
#include "../include/transport.p4"
#include "../include/rate.p4"

struct headers_t {
    ethernet_h ethernet;
    ipv4_h ipv4;
    l4_ports_h l4_ports;
    udp_h udp;
    transport_h transport;
    rate_request_h rate_request;
    // Records of hops before this one, the last of them at 4, then this one's; the sender makes room for one
    // to six.
    rate_hop_h[5] rate_passed;
    rate_hop_h rate_hop;
}

// Tofino 1 parses 160 bytes in egress, with the chip's own: they end behind a request's third record. Where
// more hops have answered, such a switch says that it found no record.
#if __TARGET_TOFINO__ == 1
#define RECORD(STATE) accept
#else
#define RECORD(STATE) STATE
#endif

// A request of one to six records.
parser ExtensionParser(packet_in packet, inout headers_t hdr) {
    state start {
        transition select(hdr.transport.extension_type, hdr.transport.extension_len) {
            (EXTENSION_RATE_REQUEST, 24): parse_request_of_1;
            (EXTENSION_RATE_REQUEST, 36): parse_request_of_2;
            (EXTENSION_RATE_REQUEST, 48): parse_request_of_3;
            (EXTENSION_RATE_REQUEST, 60): parse_request_of_4;
            (EXTENSION_RATE_REQUEST, 72): parse_request_of_5;
            (EXTENSION_RATE_REQUEST, 84): parse_request_of_6;
            default: accept;
        }
    }

    // A record is left for this hop where the sender made room for more than those before it.
    state parse_request_of_1 {
        packet.extract(hdr.rate_request);
        transition select(hdr.rate_request.hop_index) {
            0: parse_hop;
            default: accept;
        }
    }

    state parse_request_of_2 {
        packet.extract(hdr.rate_request);
        transition select(hdr.rate_request.hop_index) {
            0: parse_hop;
            1: parse_1;
            default: accept;
        }
    }

    state parse_request_of_3 {
        packet.extract(hdr.rate_request);
        transition select(hdr.rate_request.hop_index) {
            0: parse_hop;
            1: parse_1;
            2: parse_2;
            default: accept;
        }
    }

    state parse_request_of_4 {
        packet.extract(hdr.rate_request);
        transition select(hdr.rate_request.hop_index) {
            0: parse_hop;
            1: parse_1;
            2: parse_2;
            3: RECORD(parse_3);
            default: accept;
        }
    }

    state parse_request_of_5 {
        packet.extract(hdr.rate_request);
        transition select(hdr.rate_request.hop_index) {
            0: parse_hop;
            1: parse_1;
            2: parse_2;
            3: RECORD(parse_3);
            4: RECORD(parse_4);
            default: accept;
        }
    }

    state parse_request_of_6 {
        packet.extract(hdr.rate_request);
        transition select(hdr.rate_request.hop_index) {
            0: parse_hop;
            1: parse_1;
            2: parse_2;
            3: RECORD(parse_3);
            4: RECORD(parse_4);
            5: RECORD(parse_5);
            default: accept;
        }
    }

#if __TARGET_TOFINO__ != 1
    state parse_5 {
        packet.extract(hdr.rate_passed[0]);
        transition parse_4;
    }

    state parse_4 {
        packet.extract(hdr.rate_passed[1]);
        transition parse_3;
    }

    state parse_3 {
        packet.extract(hdr.rate_passed[2]);
        transition parse_2;
    }
#endif

    state parse_2 {
        packet.extract(hdr.rate_passed[3]);
        transition parse_1;
    }

    state parse_1 {
        packet.extract(hdr.rate_passed[4]);
        transition parse_hop;
    }

    state parse_hop {
        packet.extract(hdr.rate_hop);
        transition accept;
    }
}

#include "../adaptors/tna.p4"
#include "../adaptors/tna_transport.p4"
#include "../controls/d3_stamp.p4"

control egress(inout headers_t hdr,
               inout egress_metadata_t meta,
               in egress_intrinsic_metadata_t from_tm,
               in egress_intrinsic_metadata_from_parser_t from_parser,
               inout egress_intrinsic_metadata_for_deparser_t for_deparser,
               inout egress_intrinsic_metadata_for_output_port_t for_port) {
    D3Stamp() allocator;

    apply {
        if (hdr.ipv4.isValid()) {
            allocator.apply(hdr, from_tm.egress_port);
        }
    }
}

Pipeline(ingress_parser(), ingress(), ingress_deparser(), egress_parser(), egress(), egress_deparser()) pipe;

Switch(pipe) main;
