// Bolt's supply matching (p4src/controls/bolt.p4, docs/algorithms/bolt.md#bolt-switch) at the ends of its numbers: how
// far arrivals are ahead of what the link has carried, with a full packet of 1500 bytes and one byte in a unit of time.
// Speed in units of 2^-20, time, bytes, whether the packet asks; then whether it gets.
//
// Arrears are paid to the byte.
// register I.supply.arrears_bytes 2 900
// register I.supply.last_seen 2 1000
// packet 0 00100000 0000000007cf 00000064 01 ff
// expect 1 00100000 0000000007cf 00000064 01 00
// expect_register I.supply.arrears_bytes 2 1
// packet 0 00100000 000000000834 00000064 01 ff
// expect 1 00100000 000000000834 00000064 01 01
// expect_register I.supply.arrears_bytes 2 1500
// expect_register I.supply.last_seen 2 2100
// Who does not ask gets nothing, and nothing is charged for it.
// packet 0 00100000 000000001000 00000064 00 ff
// expect 1 00100000 000000001000 00000064 00 00
// expect_register I.supply.arrears_bytes 2 0
// They stop at their largest number, and what is carried is taken off after that.
// register I.supply.arrears_bytes 2 0xffffffff
// packet 0 00100000 000000001001 00000064 00 ff
// expect 1 00100000 000000001001 00000064 00 00
// expect_register I.supply.arrears_bytes 2 0xfffffffe
// The time is one modulo 2^48.
// register I.supply.last_seen 2 0xffffffffffff
// packet 0 00100000 000000000009 00000000 00 ff
// expect 1 00100000 000000000009 00000000 00 00
// expect_register I.supply.arrears_bytes 2 0xfffffff4
// 2^31 - 1 units of time count as such, 2^31 pay any arrears.
// register I.supply.arrears_bytes 2 0xffffffff
// register I.supply.last_seen 2 1
// packet 0 00100000 000080000000 00000000 01 ff
// expect 1 00100000 000080000000 00000000 01 00
// expect_register I.supply.arrears_bytes 2 0x80000000
// register I.supply.arrears_bytes 2 0xffffffff
// register I.supply.last_seen 2 1
// packet 0 00100000 000080000001 00000000 00 ff
// expect 1 00100000 000080000001 00000000 00 00
// expect_register I.supply.arrears_bytes 2 0
// No link carries more than the largest number: 2^30 units of time at four bytes in each, and at eight.
// register I.supply.arrears_bytes 2 0xffffffff
// register I.supply.last_seen 2 1
// packet 0 00400000 000040000001 00000000 01 ff
// expect 1 00400000 000040000001 00000000 01 01
// expect_register I.supply.arrears_bytes 2 1500
// register I.supply.arrears_bytes 2 0xffffffff
// register I.supply.last_seen 2 1
// packet 0 00800000 000040000001 00000000 01 ff
// expect 1 00800000 000040000001 00000000 01 01
// expect_register I.supply.arrears_bytes 2 1500
#include <core.p4>
#include <v1model.p4>
#include "../../../../p4src/include/headers.p4"
#include "../../../../p4src/include/bolt_header.p4"

header data_h {
    bit<32> speed;
    bit<48> now;
    bit<32> bytes;
    bit<8>  asks;
    bit<8>  gets;
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
    BoltSupply() supply;

    apply {
        sm.egress_spec = 1;
        bolt_port_t port;
        port.link_rate = 0;
        port.threshold_bytes = 0;
        port.bytes_per_time = hdr.data.speed;
        port.packet_bytes = 1500;
        port.most_places = 0;
        port.offers_room = 1;
        port.tells = 1;
        bool gets;
        supply.apply(port, 2, hdr.data.now, hdr.data.bytes, hdr.data.asks == 1, gets);
        hdr.data.gets = gets ? 8w1 : 8w0;
    }
}

#include "include/pipe.p4"
