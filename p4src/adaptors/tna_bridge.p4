// What ingress tells egress on Tofino: a header in front of the packet, between the two. The program's
// `headers_t` begins with `bridge_h bridge`.

#ifndef P4CC_TNA_BRIDGE
#define P4CC_TNA_BRIDGE

#include "../include/headers.p4"
#include "tna_bridge_header.p4"

control FillBridge(inout headers_t hdr, in port_t ingress_port, in bit<48> ingress_time) {
    apply {
        hdr.bridge.setValid();
        hdr.bridge.ingress_time = ingress_time;
        hdr.bridge.reserved = 0;
        hdr.bridge.ingress_port = ingress_port;
    }
}

parser BridgeParser(packet_in packet, inout headers_t hdr) {
    state start {
        packet.extract(hdr.bridge);
        transition accept;
    }
}

#endif
