// Bolt's part of a switch (docs/algorithms/bolt.md#bolt-switch): a queue is told to the sender of the packet
// that finds it, by a packet of the switch's own that leaves at once (SRC); a flow's end is foreseen and its
// place given to other flows (PRU); and room that nobody uses is offered (SM).
//
// The packet that finds a queue is still at ingress, and v1model tells depths at egress only. So a register
// holds each queue in bytes: a packet that joins it adds its own, one that leaves it writes what is left,
// which the traffic manager counts. What a full queue refused is forgotten with the next packet that leaves.
//
// Needs the program's `headers_t` and the architecture's `register`.
//
// Bounds: bytes and tokens stop at their largest values. Time (48 bits) is subtracted
// modulo 2^48, and no more of it counts than fills 2^32 bytes.

#ifndef P4CC_BOLT
#define P4CC_BOLT

#include "../include/bolt_header.p4"
#include "../include/sizes.p4"

const bit<64> LARGEST_BYTES = 0xffffffff;
const time_t LONGEST_ELAPSED = 0x80000000;

// Bytes that wait in each queue. Ingress reads what egress writes, so it belongs to neither.
register<bit<32>>(QUEUE_COUNT) bolt_queued_bytes;

// What the controller says of a port.
struct bolt_port_t {
    rate_kbps_t link_rate;
    // Queues from here on are told.
    bit<32> threshold_bytes;
    // Rate in bytes for one unit of time, in units of 2^-20.
    bit<32> bytes_per_time;
    // A full packet.
    bit<16> packet_bytes;
    // Places of ended flows that are kept at most; 0 for no PRU.
    bit<16> most_places;
    // Whether room is offered (SM), and whether the switch itself tells (SRC) or the receiver.
    bit<1> offers_room;
    bit<1> tells;
}

// Supply matching: `gets` says that a packet which asks may let out one packet more, as the link has room.
control BoltSupply(in bolt_port_t port, in bit<32> cell, in time_t now, in bit<32> wire_bytes, in bool asks,
                   out bool gets) {
    // A full packet's bytes less the paper's tokens, which never exceed these:
    // how far arrivals are ahead of what the link has carried since.
    register<bit<32>>(PORT_COUNT) arrears_bytes;
    register<time_t>(PORT_COUNT) last_seen;

    apply {
        bit<32> arrears;
        time_t before;
        arrears_bytes.read(arrears, cell);
        last_seen.read(before, cell);
        time_t elapsed = now - before;
        // 2^31 units of time by 2^32 fit 64 bits; a longer time pays any arrears.
        bit<64> carried = LARGEST_BYTES;
        if (elapsed < LONGEST_ELAPSED) {
            carried = ((bit<64>)elapsed * (bit<64>)port.bytes_per_time) >> 20;
            if (carried > LARGEST_BYTES) {
                carried = LARGEST_BYTES;
            }
        }
        arrears = (arrears |+| wire_bytes) |-| (bit<32>)carried;
        gets = asks && arrears == 0;
        if (gets) {
            arrears = (bit<32>)port.packet_bytes;
        }
        arrears_bytes.write(cell, arrears);
        last_seen.write(cell, now);
    }
}

// `queue_bytes` and `link_rate` are what a notification says, if one is to be made.
// `depth_bytes` goes with the packet to egress: bytes of one unit of its queue's depth.
control Bolt(inout headers_t hdr, in port_t egress_port, in priority_t priority, in time_t now, out bool notifies,
             out bit<32> queue_bytes, out rate_kbps_t link_rate, out bit<12> depth_bytes) {
    // Places that ended flows leave.
    register<bit<16>>(PORT_COUNT) free_places;

    BoltSupply() supply;

    bool is_port;
    bolt_port_t port;
    bit<8> framing_bytes;

    // `rate` in kbit/s; `speed`: the rate in bytes for one unit of time, in units of 2^-20; `threshold` in
    // bytes; `size`: bytes of a full packet; `unit`: bytes of one unit of the queue's depth; `framing`: what
    // the link adds to IP bytes; `places`: of ended flows, kept at most (0: no PRU); `room`: whether room
    // is offered (SM); `early`: whether the switch tells the sender itself (SRC).
    action set_port(
        @p4cc_role("link_kbps") rate_kbps_t rate,
        @p4cc_role("bytes_per_time") bit<32> speed,
        @p4cc_role("threshold_bytes") bit<32> threshold,
        @p4cc_role("packet_bytes") bit<16> size,
        @p4cc_role("bytes_per_depth") bit<12> unit,
        @p4cc_role("framing_bytes") bit<8> framing,
        @p4cc_role("most_places") bit<16> places,
        @p4cc_role("offers_room") bit<1> room,
        @p4cc_role("tells") bit<1> early
    ) {
        is_port = true;
        port.link_rate = rate;
        port.bytes_per_time = speed;
        port.threshold_bytes = threshold;
        port.packet_bytes = size;
        depth_bytes = unit;
        framing_bytes = framing;
        port.most_places = places;
        port.offers_room = room;
        port.tells = early;
    }

    // A port without an entry neither tells nor takes a flag away.
    @p4cc_role("bolt.ports")
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
        notifies = false;
        is_port = false;
        queue_bytes = 0;
        link_rate = 0;
        depth_bytes = 0;
        framing_bytes = 0;
        port.link_rate = 0;
        port.bytes_per_time = 0;
        port.threshold_bytes = 0;
        port.packet_bytes = 0;
        port.most_places = 0;
        port.offers_room = 0;
        port.tells = 0;
        ports.apply();
        if (is_port) {
            bit<32> cell = (bit<32>)egress_port;
            bit<32> queue = (bit<32>)(egress_port ++ priority);
            bit<32> queued;
            bolt_queued_bytes.read(queued, queue);
            bolt_queued_bytes.write(queue, queued |+| (bit<32>)hdr.ipv4.total_len);
            bool finds_queue = queued >= port.threshold_bytes;
            bit<16> places;
            free_places.read(places, cell);
            bool asks = hdr.bolt.isValid() && !finds_queue && hdr.bolt.last == 0 && hdr.bolt.inc == 1;
            bool gets;
            supply.apply(port, cell, now, (bit<32>)hdr.ipv4.total_len + (bit<32>)framing_bytes,
                         asks && port.offers_room == 1 && places == 0, gets);
            if (hdr.bolt.isValid()) {
                if (finds_queue) {
                    if (hdr.bolt.dec == 0) {
                        if (port.tells == 1) {
                            notifies = true;
                            queue_bytes = queued;
                            link_rate = port.link_rate;
                        } else {
                            hdr.bolt.queue_bytes = queued;
                            hdr.bolt.link_rate = port.link_rate;
                        }
                    }
                    hdr.bolt.dec = 1;
                    hdr.bolt.inc = 0;
                } else if (hdr.bolt.last == 1) {
                    // A flow of one window had no place in the window before.
                    if (hdr.bolt.first == 0 && places < port.most_places) {
                        free_places.write(cell, places + 1);
                    }
                } else if (asks) {
                    if (places > 0) {
                        free_places.write(cell, places - 1);
                    } else if (!gets) {
                        hdr.bolt.inc = 0;
                    }
                }
            }
        }
    }
}

// What is left in a queue that a packet leaves.
control BoltDequeue(in bit<12> depth_bytes, in port_t egress_port, in priority_t priority,
                    in queue_depth_t queue_depth) {
    apply {
        bolt_queued_bytes.write((bit<32>)(egress_port ++ priority), (bit<32>)queue_depth * (bit<32>)depth_bytes);
    }
}

// Makes the copy of a packet that found a queue the notification to its sender; what is
// behind the headers is for the top program to cut off.
control BoltNotice(inout headers_t hdr, in bit<32> queue_bytes, in rate_kbps_t link_rate) {
    apply {
        mac_addr_t mac = hdr.ethernet.src_addr;
        hdr.ethernet.src_addr = hdr.ethernet.dst_addr;
        hdr.ethernet.dst_addr = mac;
        ipv4_addr_t address = hdr.ipv4.src_addr;
        hdr.ipv4.src_addr = hdr.ipv4.dst_addr;
        hdr.ipv4.dst_addr = address;
        hdr.ipv4.ecn = 0;
        hdr.ipv4.ttl = BOLT_NOTICE_TTL;
        hdr.ipv4.total_len = BOLT_NOTICE_IP_BYTES;
        hdr.udp.length = BOLT_NOTICE_IP_BYTES - IPV4_HEADER_BYTES;
        hdr.transport.packet_type = PACKET_TYPE_NOTICE;
        hdr.transport.flags = 0;
        hdr.transport.payload_len = 0;
        // As in an ACK: by it the sender knows how long ago the packet left.
        hdr.transport.timestamp_echo = hdr.transport.timestamp;
        hdr.transport.timestamp = 0;
        hdr.bolt.inc = 0;
        hdr.bolt.dec = 1;
        hdr.bolt.queue_bytes = queue_bytes;
        hdr.bolt.link_rate = link_rate;
    }
}

#endif
