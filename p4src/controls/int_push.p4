// Hop records by `push`: the packet grows by eight bytes
// a hop, and no switch parses the records before its own.

#ifndef P4CC_INT_PLACE
#define P4CC_INT_PLACE

#include "../include/transport.p4"
#include "../include/int.p4"
#include "grow.p4"

bool can_take_record(in headers_t hdr) {
    return can_grow(hdr.ipv4, hdr.udp);
}

bit<8> records_held(in headers_t hdr) {
    return (hdr.transport.extension_len - INT_SHIM_BYTES) >> 3;
}

// The record in `int_hop` goes out right behind the shim.
void place_record(inout headers_t hdr) {
    grow_packet(hdr.ipv4, hdr.udp, hdr.transport, INT_HOP_BYTES);
}

#endif
