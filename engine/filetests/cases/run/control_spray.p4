// Flowlets (p4src/controls/spray.p4, docs/algorithms/topologies.md#flowlets) with a gap of 100, at chosen times: a flow
// from 10.0.0.1 to 10.0.0.2, UDP ports 1000 and 2000. CRC-32 of these 13 bytes modulo 65536 is its cell, 46296.
// add I.spray.gaps 0x0800 => I.spray.set_gap(100)
//
// EtherType, time; then the number to choose by. Without a gap it is drawn, and no cell is touched.
// packet 0 86dd 000000000000 0000
// expect 1 86dd 000000000000 ****
// expect_register I.spray.last_seen 46296 0
// The first packet draws, at time 0 too: the cell's number before is not used.
// register I.spray.entropies 46296 0x1234
// packet 0 0800 000000000000 0000
// expect 1 0800 000000000000 bfc4
// expect_register I.spray.last_seen 46296 1
// A packet less than the gap later keeps the number, one that is the gap later draws another.
// register I.spray.entropies 46296 0x1234
// packet 0 0800 000000000063 0000
// expect 1 0800 000000000063 1234
// expect_register I.spray.last_seen 46296 100
// packet 0 0800 0000000000c7 0000
// expect 1 0800 0000000000c7 d41f
// expect_register I.spray.last_seen 46296 200
// A gap of 1 parts all packets but those of one time.
// add I.spray.gaps 0x0806 => I.spray.set_gap(1)
// register I.spray.entropies 46296 0x1234
// packet 0 0806 0000000000c7 0000
// expect 1 0806 0000000000c7 1234
#include <core.p4>
#include <v1model.p4>
#include "../../../../p4src/include/headers.p4"

header data_h {
    bit<16> ether_type;
    bit<48> now;
    bit<16> entropy;
}

struct headers_t {
    data_h     data;
    ethernet_h ethernet;
    ipv4_h     ipv4;
    l4_ports_h l4_ports;
}

struct metadata_t {}

#include "../../../../p4src/controls/spray.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    Spray() spray;

    apply {
        sm.egress_spec = 1;
        hdr.ethernet.setValid();
        hdr.ethernet.ether_type = hdr.data.ether_type;
        hdr.ipv4.setValid();
        hdr.ipv4.src_addr = 0x0a000001;
        hdr.ipv4.dst_addr = 0x0a000002;
        hdr.ipv4.protocol = IP_PROTOCOL_UDP;
        hdr.l4_ports.setValid();
        hdr.l4_ports.src_port = 1000;
        hdr.l4_ports.dst_port = 2000;
        spray.apply(hdr, hdr.data.now, hdr.data.entropy);
        hdr.ethernet.setInvalid();
        hdr.ipv4.setInvalid();
        hdr.l4_ports.setInvalid();
    }
}

#include "include/pipe.p4"
