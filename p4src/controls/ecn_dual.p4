// Two congestion levels in the two ECN bits
// (docs/algorithms/marking.md#dual-thresholds, #dual-thresholds-p4).
//
// The depth of the egress queue at enqueue gives a level by the port's two thresholds; a table turns level
// and incoming codepoint into the outgoing one. Which codepoint means what is the controller's choice
// (profiles gst, rfc3168, sce), so one program serves all three; the map never lowers a mark and holds no
// entry for packets that are not ECN capable.

#ifndef P4CC_ECN_DUAL
#define P4CC_ECN_DUAL

#include "../include/headers.p4"
#include "../include/sizes.p4"
#include "../adaptors/arithmetic.p4"
#include "../adaptors/objects.p4"

// `ecn` are the two ECN bits of a packet's IP header, of whatever type:
// `marks.apply(hdr.ipv4.diffserv[1:0], ...)`.
control EcnDual(inout ecn_t ecn, in port_t egress_port, in queue_depth_t enq_qdepth, out ecn_level_t level) {
    // Packets that left each port, by the level their queue had: cell = port * 4 + level.
    @p4cc_role("ecn_dual.level_packets")
    PACKET_COUNTER(LEVEL_COUNTER_SIZE) level_packets;

    WideDepth() widen;
    DepthReaches() reaches_k;
    DepthReaches() reaches_k_dc;

    // Without an entry a port never marks.
    bool has_thresholds;
    bit<32> k_depth;
    bit<32> k_dc_depth;

    action set_thresholds(@p4cc_unit("depth") queue_depth_t k, @p4cc_unit("depth") queue_depth_t k_dc) {
        has_thresholds = true;
        k_depth = (bit<32>)k;
        k_dc_depth = (bit<32>)k_dc;
    }

    @p4cc_role("ecn_dual.thresholds")
    table thresholds {
        key = {
            egress_port: exact @name("egress_port");
        }
        actions = {
            set_thresholds;
            NoAction;
        }
        const default_action = NoAction();
        size = PORT_COUNT;
    }

    action set_codepoint(@name("ecn") ecn_t outgoing) {
        ecn = outgoing;
    }

    @p4cc_role("ecn_dual.codepoints")
    table codepoint_map {
        key = {
            level: exact @name("level");
            ecn: exact @name("ecn");
        }
        actions = {
            set_codepoint;
            NoAction;
        }
        const default_action = NoAction();
        size = CODEPOINT_MAP_SIZE;
    }

    apply {
        level = LEVEL_NONE;
        has_thresholds = false;
        k_depth = 0;
        k_dc_depth = 0;
        bit<32> depth;
        widen.apply(enq_qdepth, depth);
        thresholds.apply();
        // The depth does not count this packet: "more than K with it" is "at least K without it".
        if (has_thresholds) {
            bool above_k;
            bool above_k_dc;
            reaches_k.apply(depth, k_depth, above_k);
            reaches_k_dc.apply(depth, k_dc_depth, above_k_dc);
            if (above_k_dc) {
                level = LEVEL_K_DC;
            } else if (above_k) {
                level = LEVEL_K;
            }
        }
        codepoint_map.apply();
        level_packets.count((bit<32>)(egress_port ++ level));
    }
}

#endif
