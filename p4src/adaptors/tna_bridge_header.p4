// What tna_bridge.p4 puts in front of a packet between ingress and egress.

#ifndef P4CC_TNA_BRIDGE_HEADER
#define P4CC_TNA_BRIDGE_HEADER

#include "../include/headers.p4"

header bridge_h {
    bit<48> ingress_time;
    bit<7> reserved;
    port_t ingress_port;
}

#endif
