// Hop records by `hs_fixed`: the sender reserved room for five
// (docs/algorithms/int.md#hpcc-int, as the ns-3 simulator), the packet keeps its
// length. The program parses the records into `int_hops`, which moves back by one.

#ifndef P4CC_INT_PLACE
#define P4CC_INT_PLACE

#include "../include/int.p4"
#include "../adaptors/arithmetic.p4"
#include "../adaptors/int_records.p4"

const link_bytes_t RECORD_GROWTH_BYTES = 0;

// Hops before this one, as far as they found room.
control RecordRoom(in headers_t hdr, out bool can_take, out bit<8> records) {
    apply {
        can_take = true;
        records = (bit<8>)hdr.int_shim.hop_count;
        if (records > INT_FIXED_RECORDS) {
            records = INT_FIXED_RECORDS;
        }
    }
}

// The record takes the first place. A sixth would push the first hop's out: the bound leaves it away.
control PlaceRecord(inout headers_t hdr) {
    PushRecord() push;

    apply {
        if (hdr.int_shim.hop_count <= INT_FIXED_RECORDS) {
            push.apply(hdr.int_hops, hdr.int_hop);
        } else {
            hdr.int_hop.setInvalid();
        }
    }
}

#endif
