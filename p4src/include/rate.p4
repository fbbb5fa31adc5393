// Rates on the wire: D3's request with one record for each
// hop (extension 3), and RCP's fair rate (extension 6).

#ifndef P4CC_RATE
#define P4CC_RATE

#include "transport.p4"

header rate_request_h {
    bit<4> reserved_flags;
    // A switch found no record left.
    bit<1> overflow;
    // A switch was full: the flow may send one header each round.
    bit<1> base_rate;
    // The flow ends: give back, ask for nothing.
    bit<1> fin;
    bit<1> reserved_flag;
    // Switches that answered; the next one's record.
    bit<8> hop_index;
    bit<16> reserved;
    rate_kbps_t desired;
    // What the request before this one desired, as the host was answered; 0 if it was not.
    rate_kbps_t desired_before;
}

// One hop's record. The host copies the two answers of the
// last return into the next request's `_before` fields.
header rate_hop_h {
    rate_kbps_t granted_before;
    rate_kbps_t granted;
    bit<16> epoch_before;
    bit<16> epoch;
}

// Epochs that switches stamp have this bit set, so that 0 says "no grant".
const bit<16> EPOCH_VALID = 0x8000;

header fair_rate_h {
    // Smallest fair rate of the path so far; the sender starts with all ones.
    rate_kbps_t rate;
}

const bit<8> FAIR_RATE_BYTES = 4;

#endif
