// Bolt on the wire (extension 9): what a sender says of a packet's place in its flow, and what a switch
// answers of its queue.

#ifndef P4CC_BOLT_HEADER
#define P4CC_BOLT_HEADER

#include "transport.p4"

header bolt_h {
    // The packet belongs to the flow's first window: nothing came back yet.
    bit<1> first;
    // It belongs to the last one: its ACK lets no other packet out.
    bit<1> last;
    // Its ACK may let out one packet more; a switch without room for that clears it.
    bit<1> inc;
    // A switch found a queue and has told the sender; no switch behind tells again.
    bit<1> dec;
    bit<4> reserved_flags;
    bit<24> reserved;
    // That queue, and the rate at which it drains; zero in what the sender sends.
    bit<32> queue_bytes;
    rate_kbps_t link_rate;
}

const bit<8> BOLT_BYTES = 12;

// The port that notifications of packets of an ingress port leave by is that of
// clone session `BOLT_FIRST_SESSION` plus the ingress port's number.
const bit<32> BOLT_FIRST_SESSION = 1024;

// Headers of a notification: IPv4, UDP, transport, extension.
const bit<16> BOLT_NOTICE_IP_BYTES = 76;
const bit<8> BOLT_NOTICE_TTL = 64;
// And Ethernet's.
const bit<32> BOLT_NOTICE_BYTES = 90;

#endif
