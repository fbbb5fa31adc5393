// A record in front of others of fixed room on Tofino, which moves each by itself.

#ifndef P4CC_TNA_INT_RECORDS
#define P4CC_TNA_INT_RECORDS

#define P4CC_INT_RECORDS

#include "../include/int.p4"

control PushRecord(inout int_hop_h[INT_FIXED_RECORDS] records, in int_hop_h record) {
    apply {
        records[4] = records[3];
        records[3] = records[2];
        records[2] = records[1];
        records[1] = records[0];
        records[0] = record;
    }
}

#endif
