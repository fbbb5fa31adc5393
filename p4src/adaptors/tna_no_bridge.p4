// Nothing that ingress tells egress. `tna_bridge.p4` of this folder has
// more; whichever file a program includes first counts.

#ifndef P4CC_TNA_BRIDGE
#define P4CC_TNA_BRIDGE

#include "../include/headers.p4"

control FillBridge(inout headers_t hdr, in port_t ingress_port, in bit<48> ingress_time) {
    apply {}
}

parser BridgeParser(packet_in packet, inout headers_t hdr) {
    state start {
        transition accept;
    }
}

#endif
