// A record in front of others of fixed room on Tofino. It is sent from where it is, before the others, and
// the last of them is not sent: so none has to move.

#ifndef P4CC_TNA_INT_RECORDS
#define P4CC_TNA_INT_RECORDS

#define P4CC_INT_RECORDS

#include "../include/int.p4"

control PushRecord(inout int_hop_h[INT_FIXED_RECORDS] records, inout int_hop_h record) {
    apply {
        records[INT_FIXED_RECORDS - 1].setInvalid();
    }
}

#endif
