// Which of equal paths a packet takes: one of its own, that of its flowlet, the packets of a flow between two
// pauses, or the one that its sender chose (docs/algorithms/topologies.md#packet-spraying, #flowlets,
// docs/algorithms/entropy.md).
//
// Gives a number for groups of equal paths to choose by. A flowlet that begins draws one; a pause is `gap`
// units of the switch's clock and more. Flows that share a cell share flowlets.

#ifndef P4CC_SPRAY
#define P4CC_SPRAY

#include "../include/headers.p4"
#include "../include/sizes.p4"

control Spray(in headers_t hdr, in bit<48> now, out bit<16> entropy) {
    // When the last packet of a cell's flows came, plus one; 0 before the first.
    register<bit<48>>(FLOWLET_COUNT) last_seen;
    register<bit<16>>(FLOWLET_COUNT) entropies;

    bit<48> gap;
    bool is_chosen;

    action set_gap(@p4cc_unit("ticks") bit<32> ticks) {
        gap = (bit<48>)ticks;
    }

    // The sender chose by the source port.
    action follow_sender() {
        is_chosen = true;
    }

    // Without an entry each packet takes a path of its own.
    @p4cc_role("spray.gaps")
    table gaps {
        key = {
            hdr.ethernet.ether_type: exact @name("ether_type");
        }
        actions = {
            set_gap;
            follow_sender;
            NoAction;
        }
        const default_action = NoAction();
        size = ECMP_SEED_SIZE;
    }

    apply {
        gap = 0;
        is_chosen = false;
        gaps.apply();
        if (is_chosen) {
            entropy = hdr.l4_ports.src_port;
        } else if (gap == 0) {
            random<bit<16>>(entropy, 0, 0xffff);
        } else {
            bit<32> cell;
            bit<48> last;
            hash(cell, HashAlgorithm.crc32, 32w0,
                 { hdr.ipv4.src_addr, hdr.ipv4.dst_addr, hdr.ipv4.protocol, hdr.l4_ports.src_port,
                   hdr.l4_ports.dst_port },
                 (bit<64>)FLOWLET_COUNT);
            last_seen.read(last, cell);
            last_seen.write(cell, now + 1);
            if (last == 0 || now + 1 - last >= gap) {
                random<bit<16>>(entropy, 0, 0xffff);
                entropies.write(cell, entropy);
            } else {
                entropies.read(entropy, cell);
            }
        }
    }
}

#endif
