// RCP's fair rate on a switch that cannot multiply (docs/algorithms/d3-rcp.md#rcp): it measures and stamps,
// and the controller makes the step (experiments/tofino/rcp.py, by the arithmetic of controller/rcp.py).
//
// Each port counts the bytes that left and keeps the depth that its last packet left behind. The controller
// reads both once an interval and installs the rate, which goes into packets as the smallest of their path.

#ifndef P4CC_RCP_STAMP
#define P4CC_RCP_STAMP

#include "../include/rate.p4"
#include "../include/sizes.p4"
#include "../adaptors/arithmetic.p4"
#include "../adaptors/objects.p4"
#include "../adaptors/rates.p4"

control RcpStamp(inout headers_t hdr, in port_t egress_port, in queue_depth_t queue_depth) {
    LowerRate() lower;
    AddBytes() add_framing;

    // What this packet is on the link, and what it leaves behind.
    link_bytes_t bytes;
    bit<32> depth;

    // Bytes on the link since the start, of every packet of the port; wraps at 2^32.
    SUM_REGISTER(sent_bytes, PORT_COUNT, bytes);
    // Of the last packet that left, in units of the queue's depth.
    KEEP_REGISTER(last_depths, PORT_COUNT, depth);

    bool is_port;
    rate_kbps_t rate;
    link_bytes_t framing_bytes;

    action set_rate(@p4cc_role("fair_kbps") rate_kbps_t fair, @p4cc_role("framing_bytes") bit<8> framing) {
        is_port = true;
        rate = fair;
        framing_bytes = (link_bytes_t)framing;
    }

    // A port without an entry neither measures nor stamps.
    @p4cc_role("rcp_stamp.ports")
    table stamped {
        key = {
            egress_port: exact @name("egress_port");
        }
        actions = {
            set_rate;
            NoAction;
        }
        const default_action = NoAction();
        size = PORT_COUNT;
    }

    apply {
        is_port = false;
        rate = 0;
        framing_bytes = 0;
        bytes = (link_bytes_t)hdr.ipv4.total_len;
        depth = (bit<32>)queue_depth;
        stamped.apply();
        add_framing.apply(bytes, framing_bytes);
        if (is_port) {
            bit<32> before;
            ADD_TO_SUM(sent_bytes, egress_port, bytes, before);
            KEEP(last_depths, egress_port, depth);
            if (hdr.fair_rate.isValid()) {
                lower.apply(hdr.fair_rate.rate, rate);
            }
        }
    }
}

#endif
