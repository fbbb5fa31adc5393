// Hop records by `push`: the packet grows by eight bytes
// a hop, and no switch parses the records before its own.

#ifndef P4CC_INT_PLACE
#define P4CC_INT_PLACE

#include "../include/transport.p4"
#include "../include/int.p4"
#include "grow.p4"
#include "../adaptors/arithmetic.p4"
#include "../adaptors/can_grow.p4"

const link_bytes_t RECORD_GROWTH_BYTES = 8;

// Whether the packet may get one more, and how many it has: the parser has made sure that they are whole.
control RecordRoom(in headers_t hdr, out bool can_take, out bit<8> records) {
    CanGrow() can_grow_now;

    apply {
        can_grow_now.apply(hdr.ipv4, hdr.udp, can_take);
        records = (bit<8>)hdr.transport.extension_len[7:3];
    }
}

// The record in `int_hop` goes out right behind the shim.
control PlaceRecord(inout headers_t hdr) {
    apply {
        grow_packet(hdr.ipv4, hdr.udp, hdr.transport, (bit<16>)INT_HOP_BYTES, INT_HOP_BYTES);
    }
}

#endif
