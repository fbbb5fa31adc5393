// Whether a packet's lengths agree and leave room, as a software switch finds out. `tna.p4` of
// this folder has the same for the chip; whichever file a program includes first counts.

#ifndef P4CC_CAN_GROW
#define P4CC_CAN_GROW

#include "../controls/grow.p4"

control CanGrow(in ipv4_h ipv4, in udp_h udp, out bool can) {
    apply {
        can = can_grow(ipv4, udp);
    }
}

#endif
