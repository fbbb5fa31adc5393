// What is left of a packet that found its queue full: its headers, with a DSCP of their own
// (docs/algorithms/trimming.md#trimming).
//
// For top programs whose architecture gives such a packet another pass through ingress. They cut the packet
// to TRIMMED_FRAME_BYTES and choose its queue. Only data of our transport is trimmed: its receivers alone
// know from the transport header which bytes are missing.

#ifndef P4CC_TRIM
#define P4CC_TRIM

#include "../include/transport.p4"
#include "../include/sizes.p4"
#include "../adaptors/objects.p4"

typedef bit<6> dscp_t;

// The operator's choice (docs/algorithms/trimming.md#trim-codepoints).
const dscp_t DSCP_TRIMMED = 11;
// UDP and transport header.
const bit<16> TRIMMED_UDP_BYTES = 44;
const bit<16> TRIMMED_IP_BYTES = IPV4_HEADER_BYTES + TRIMMED_UDP_BYTES;
const bit<32> TRIMMED_FRAME_BYTES = 78;

control Trim(inout headers_t hdr, in port_t egress_port, out bool trims) {
    // By the port whose queue was full.
    PACKET_COUNTER(PORT_COUNT) trimmed_packets;

    action trim(dscp_t dscp) {
        hdr.ipv4.dscp = dscp;
        trims = true;
    }

    action refuse() {
        trims = false;
    }

    // By the DSCP that a packet came with. Without entries all data is trimmed.
    table codepoints {
        key = {
            hdr.ipv4.dscp: exact @name("dscp");
        }
        actions = {
            trim;
            refuse;
        }
        default_action = trim(DSCP_TRIMMED);
        size = DSCP_COUNT;
    }

    apply {
        trims = false;
        if (hdr.transport.isValid() && hdr.transport.version == TRANSPORT_VERSION
            && hdr.transport.packet_type == PACKET_TYPE_DATA && hdr.transport.payload_len != 0) {
            codepoints.apply();
            if (trims) {
                hdr.ipv4.total_len = TRIMMED_IP_BYTES;
                hdr.udp.length = TRIMMED_UDP_BYTES;
                // An extension is cut off, too. The payload's length stays: it says what is missing.
                hdr.transport.extension_type = EXTENSION_NONE;
                hdr.transport.extension_len = 0;
                trimmed_packets.count((bit<32>)egress_port);
            }
        }
    }
}

#endif
