// A record in front of others of fixed room, on a stack. `tna_int_records.p4` of this
// folder has the same for the chip; whichever file a program includes first counts.

#ifndef P4CC_INT_RECORDS
#define P4CC_INT_RECORDS

#include "../include/int.p4"

control PushRecord(inout int_hop_h[INT_FIXED_RECORDS] records, inout int_hop_h record) {
    apply {
        records.push_front(1);
        records[0] = record;
        record.setInvalid();
    }
}

#endif
