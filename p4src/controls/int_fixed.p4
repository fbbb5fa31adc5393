// Hop records by `hs_fixed`: the sender reserved room for five
// (docs/algorithms/int.md#hpcc-int, as the ns-3 simulator), the packet keeps its
// length. The program parses the records into `int_hops`, which moves back by one.

#ifndef P4CC_INT_PLACE
#define P4CC_INT_PLACE

#include "../include/int.p4"

bool can_take_record(in headers_t hdr) {
    return true;
}

// Hops before this one, as far as they found room.
bit<8> records_held(in headers_t hdr) {
    bit<8> hops = (bit<8>)hdr.int_shim.hop_count;
    return hops < INT_FIXED_RECORDS ? hops : INT_FIXED_RECORDS;
}

// The record takes the first place. A sixth would push the first hop's out: the bound leaves it away.
void place_record(inout headers_t hdr) {
    if (hdr.int_shim.hop_count <= INT_FIXED_RECORDS) {
        hdr.int_hops.push_front(1);
        hdr.int_hops[0] = hdr.int_hop;
    }
    hdr.int_hop.setInvalid();
}

#endif
