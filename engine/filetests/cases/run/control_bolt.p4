// Bolt at a port (p4src/controls/bolt.p4, docs/algorithms/bolt.md#bolt-switch): what a packet adds to its queue and to
// the arrears of its link. Port 2 of 8 Gbit/s tells of 3000 bytes, has packets of 1500 and a framing of 24, keeps 5 places.
// add I.bolt.ports 2 => I.bolt.set_port(8000000, 0x100000, 3000, 1500, 80, 24, 5, 1, 1)
//
// Flags, IP bytes, time; then whether a copy goes to the sender. The framing counts on the link, not in the queue.
// register I.bolt.supply.arrears_bytes 2 5000
// packet 0 20 0064 000000000000 ff
// expect 1 00 0064 000000000000 00
// expect_register I.bolt.supply.arrears_bytes 2 5124
// expect_register bolt_queued_bytes 16 100
// A place of an ended flow is taken before room, which stays for others.
// register I.bolt.free_places 2 1
// packet 0 20 0064 000000010000 ff
// expect 1 20 0064 000000010000 00
// expect_register I.bolt.free_places 2 0
// expect_register I.bolt.supply.arrears_bytes 2 0
// Room is offered to one that asks, when no place is left.
// packet 0 20 0064 000000020000 ff
// expect 1 20 0064 000000020000 00
// expect_register I.bolt.supply.arrears_bytes 2 1500
// The queue stops at its largest number.
// register bolt_queued_bytes 16 0xfffffff0
// packet 0 20 0064 000000030000 ff
// expect 1 10 0064 000000030000 01
// expect_register bolt_queued_bytes 16 0xffffffff
// From the threshold on a queue is told.
// register bolt_queued_bytes 16 2999
// packet 0 00 0064 000000040000 ff
// expect 1 00 0064 000000040000 00
// register bolt_queued_bytes 16 3000
// packet 0 00 0064 000000040000 ff
// expect 1 10 0064 000000040000 01
#include <core.p4>
#include <v1model.p4>
#include "../../../../p4src/include/headers.p4"
#include "../../../../p4src/include/bolt_header.p4"

header data_h {
    bit<8>  flags;
    bit<16> ip_bytes;
    bit<48> now;
    bit<8>  notifies;
}

struct headers_t {
    data_h      data;
    ethernet_h  ethernet;
    ipv4_h      ipv4;
    udp_h       udp;
    transport_h transport;
    bolt_h      bolt;
}

struct metadata_t {}

#include "../../../../p4src/controls/bolt.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    Bolt() bolt;

    apply {
        sm.egress_spec = 1;
        hdr.ipv4.setValid();
        hdr.ipv4.total_len = hdr.data.ip_bytes;
        hdr.bolt.setValid();
        hdr.bolt.first = hdr.data.flags[7:7];
        hdr.bolt.last = hdr.data.flags[6:6];
        hdr.bolt.inc = hdr.data.flags[5:5];
        hdr.bolt.dec = hdr.data.flags[4:4];
        bool notifies;
        bit<32> queue_bytes;
        rate_kbps_t link_rate;
        bit<12> depth_bytes;
        bolt.apply(hdr, 2, 0, hdr.data.now, notifies, queue_bytes, link_rate, depth_bytes);
        hdr.data.flags = hdr.bolt.first ++ hdr.bolt.last ++ hdr.bolt.inc ++ hdr.bolt.dec ++ 4w0;
        hdr.data.notifies = notifies ? 8w1 : 8w0;
        hdr.ipv4.setInvalid();
        hdr.bolt.setInvalid();
    }
}

#include "include/pipe.p4"
