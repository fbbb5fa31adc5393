// INT-MD 2.1 (P4.org, In-band Network Telemetry, "INT-MD Metadata Header Format") in extension 2: a hop puts
// the metadata that the instruction bits ask for in front of the others.
//
// Supported: node id, ports, hop latency, queue, both timestamps, transmitted bytes (bits 0 to 5 and 7). What
// the model leaves out: level 2 ports, buffers, reserved bits and the checksum complement are filled with
// ones, as the specification has it; the domain's own instructions are not known, so a hop length that counts
// them is passed by. A timestamp is in the target's unit; transmitted bytes are a counter modulo 2^32, of
// which two samples give the utilisation.

#ifndef P4CC_INT_MD
#define P4CC_INT_MD

#include "../include/transport.p4"
#include "../include/int.p4"
#include "../include/sizes.p4"
#include "grow.p4"
#include "../adaptors/arithmetic.p4"
#include "../adaptors/int_md_check.p4"
#include "../adaptors/int_md_unknown.p4"
#include "../adaptors/objects.p4"

// What this hop adds.
control IntMdPush(inout headers_t hdr, in bit<16> asked, in bit<32> node_id, in bit<32> sent,
                  in bit<32> ports, in bit<32> queue, in time_t ingress_time, in time_t egress_time) {
    IntMdUnknown() unknown;

    apply {
        // Instruction bits count from the most significant one.
        if (asked[15:15] == 1) {
            hdr.int_node.setValid();
            hdr.int_node.node_id = node_id;
        }
        if (asked[14:14] == 1) {
            hdr.int_ports.setValid();
            hdr.int_ports.ingress_port = ports[31:16];
            hdr.int_ports.egress_port = ports[15:0];
        }
        if (asked[13:13] == 1) {
            hdr.int_latency.setValid();
            hdr.int_latency.latency = egress_time[31:0] - ingress_time[31:0];
        }
        if (asked[12:12] == 1) {
            hdr.int_queue.setValid();
            hdr.int_queue.queue_id = queue[31:24];
            hdr.int_queue.occupancy = queue[23:0];
        }
        if (asked[11:11] == 1) {
            hdr.int_ingress_time.setValid();
            hdr.int_ingress_time.time = (bit<64>)ingress_time;
        }
        if (asked[10:10] == 1) {
            hdr.int_egress_time.setValid();
            hdr.int_egress_time.time = (bit<64>)egress_time;
        }
        if (asked[9:9] == 1) {
            hdr.int_level_2_ports.setValid();
            hdr.int_level_2_ports.value = 0xffffffffffffffff;
        }
        if (asked[8:8] == 1) {
            hdr.int_tx.setValid();
            hdr.int_tx.tx_bytes = sent;
        }
        if (asked[7:0] != 0) {
            unknown.apply(asked[7:0], hdr.int_unknown);
        }
    }
}

control IntMd(inout headers_t hdr,
              in port_t ingress_port, in port_t egress_port, in priority_t queue,
              in time_t ingress_time, in time_t egress_time, in queue_depth_t queue_depth) {
    IntMdCheck() check;
    IntMdPairs() join;
    IntMdPush() push;
    AddBytes() add_framing;
    AddBytes() add_growth;

    // What this packet is on the link, with its metadata.
    link_bytes_t bytes;

    // Bytes on the link since the start, of every packet of the port; wraps at 2^32, as the metadata does.
    SUM_REGISTER(tx_bytes, PORT_COUNT, bytes);

    bool is_port;
    bit<32> node_id;
    bit<16> mtu_bytes;
    link_bytes_t framing_bytes;

    // `mtu`: longest IP packet of the link; `framing`: what the link adds to IP bytes.
    action set_port(bit<32> node, bit<16> mtu, bit<8> framing) {
        is_port = true;
        node_id = node;
        mtu_bytes = mtu;
        framing_bytes = (link_bytes_t)framing;
    }

    // A port without an entry neither counts nor stamps.
    @p4cc_role("int_md.ports")
    table ports {
        key = {
            egress_port: exact @name("egress_port");
        }
        actions = {
            set_port;
            NoAction;
        }
        const default_action = NoAction();
        size = PORT_COUNT;
    }

    apply {
        is_port = false;
        node_id = 0;
        mtu_bytes = 0;
        framing_bytes = 0;
        bytes = (link_bytes_t)hdr.ipv4.total_len;
        bool is_sound = false;
        bool is_too_long = false;
        bool pushes = false;
        bit<8> words = 0;
        bit<16> growth = 0;
        bit<8> extension_growth = 0;
        bit<32> port_pair;
        bit<32> queue_pair;
        join.apply(ingress_port, egress_port, queue, queue_depth, port_pair, queue_pair);
        ports.apply();
        add_framing.apply(bytes, framing_bytes);
        if (hdr.int_md.isValid()) {
            check.apply(hdr.ipv4, hdr.udp, hdr.transport, hdr.int_md_shim, hdr.int_md, mtu_bytes, words, growth,
                        extension_growth, is_sound, is_too_long);
        }
        if (is_port) {
            if (hdr.int_md.isValid() && is_sound) {
                if (hdr.int_md.remaining_hops == 0) {
                    hdr.int_md.hops_exceeded = 1;
                } else if (is_too_long) {
                    hdr.int_md.mtu_exceeded = 1;
                } else {
                    pushes = true;
                    add_growth.apply(bytes, (link_bytes_t)growth);
                }
            }
            // The metadata holds what went before this packet; the packet counts as it leaves.
            bit<32> sent;
            ADD_TO_SUM(tx_bytes, egress_port, bytes, sent);
            if (pushes && hdr.int_md.isValid()) {
                hdr.int_md.remaining_hops = hdr.int_md.remaining_hops - 1;
                hdr.int_md_shim.length_words = hdr.int_md_shim.length_words + words;
                grow_packet(hdr.ipv4, hdr.udp, hdr.transport, growth, extension_growth);
                push.apply(hdr, hdr.int_md.instructions, node_id, sent, port_pair, queue_pair, ingress_time,
                           egress_time);
            }
        }
    }
}

#endif
