// D3's stamped grants (p4src/controls/d3_stamp.p4, docs/algorithms/d3-rcp.md#d3-switch): requests that get no rate.
// Port 2 adds a share of 100 to desires of at most 900, of a capacity of 1500; port 3 adds none.
// add I.stamp.stamped 2 => I.stamp.set_share(1500, 900, 100, 1)
// add I.stamp.stamped 3 => I.stamp.set_share(1500, 900, 0, 1)
//
// Port, whether there is a record; the request of flags, hop index, desired and desired before; the record of what was
// granted before, what is granted, and both epochs. A desire up to the bound, with the share; it counts by 1024.
// packet 0 02 01 00 00 0000 00000fff 00000000 00000000 ffffffff 0000 ffff
// expect 1 02 01 00 01 0000 00000fff 00000000 00000000 000003e8 0000 8000
// expect_register I.stamp.demand 2 3
// expect_register I.stamp.requests 2 1
// More than is left is the base rate: nothing is granted, in an epoch.
// packet 0 02 01 00 01 0000 00000200 00000000 00000000 ffffffff 0000 ffff
// expect 1 02 01 04 02 0000 00000200 00000000 00000000 00000000 0000 8000
// expect_register I.stamp.requests 2 2
// The end of a flow asks for nothing and gets no epoch.
// packet 0 02 01 02 00 0000 00000064 00000000 00000000 ffffffff 0000 ffff
// expect 1 02 01 02 01 0000 00000064 00000000 00000000 00000000 0000 0000
// expect_register I.stamp.requests 2 2
// expect_register I.stamp.demand 2 3
// All records are used: the request says so, and no switch is counted.
// packet 0 02 00 00 05 0000 00000064 00000000 00000000 ffffffff 0000 ffff
// expect 1 02 00 08 05 0000 00000064 00000000 00000000 ffffffff 0000 ffff
// expect_register I.stamp.requests 2 2
// A desire of nothing without a share is the base rate, one of 1 kbit/s is granted.
// packet 0 03 01 00 00 0000 00000000 00000000 00000000 ffffffff 0000 ffff
// expect 1 03 01 04 01 0000 00000000 00000000 00000000 00000000 0000 8000
// packet 0 03 01 00 00 0000 00000001 00000000 00000000 ffffffff 0000 ffff
// expect 1 03 01 00 01 0000 00000001 00000000 00000000 00000001 0000 8000
// A port without an entry leaves requests alone, with a record and without one.
// packet 0 04 01 00 00 0000 00000064 00000000 00000000 ffffffff 0000 ffff
// expect 1 04 01 00 00 0000 00000064 00000000 00000000 ffffffff 0000 ffff
// packet 0 04 00 00 00 0000 00000064 00000000 00000000 ffffffff 0000 ffff
// expect 1 04 00 00 00 0000 00000064 00000000 00000000 ffffffff 0000 ffff
#include <core.p4>
#include <v1model.p4>
#include "../../../../p4src/include/headers.p4"
#include "../../../../p4src/include/rate.p4"

header data_h {
    bit<8> port;
    bit<8> has_record;
}

struct headers_t {
    data_h         data;
    rate_request_h rate_request;
    rate_hop_h     rate_hop;
    rate_hop_h     unused;
}

struct metadata_t {}

#include "../../../../p4src/controls/d3_stamp.p4"

#define OWN_PARSER
parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.data);
        packet.extract(hdr.rate_request);
        transition select(hdr.data.has_record) {
            1: parse_record;
            default: parse_unused;
        }
    }

    state parse_record {
        packet.extract(hdr.rate_hop);
        transition accept;
    }

    state parse_unused {
        packet.extract(hdr.unused);
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    D3Stamp() stamp;

    apply {
        sm.egress_spec = 1;
        stamp.apply(hdr, (port_t)hdr.data.port);
    }
}

#include "include/pipe.p4"
