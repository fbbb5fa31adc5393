// Which of equal paths a packet takes, on Tofino: one of its own, or the one that its sender chose. No
// flowlets: the pause since a flow's last packet is the difference of two clocks, which the chip compares
// with constants only.

#ifndef P4CC_SPRAY
#define P4CC_SPRAY

#include "../include/headers.p4"
#include "../include/sizes.p4"

control Spray(in headers_t hdr, in bit<48> now, out bit<16> entropy) {
    Random<bit<16>>() numbers;

    action draw() {
        entropy = numbers.get();
    }

    // The sender chose by the source port.
    action follow_sender() {
        entropy = hdr.l4_ports.src_port;
    }

    // Without an entry each packet takes a path of its own.
    @p4cc_role("spray.gaps")
    table gaps {
        key = {
            hdr.ethernet.ether_type: exact @name("ether_type");
        }
        actions = {
            draw;
            follow_sender;
        }
        const default_action = draw();
        size = ECMP_SEED_SIZE;
    }

    apply {
        gaps.apply();
    }
}

#endif
