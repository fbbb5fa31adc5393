// The accounts of D3 (p4src/controls/d3.p4, docs/algorithms/d3-rcp.md#d3-switch) at their ends.
// Kind; the account in use and the fresh one, each of given, wanted and flows; then two numbers.
// Kind 0, a flow brings back: nothing falls below 0.
// packet 0 00 00000064 000000000064 0005 00000000 000000000000 0000 00000032 00000014
// expect 1 00 00000032 000000000050 0004 00000000 000000000000 0000 00000032 00000014
// packet 0 00 00000064 000000000064 0000 00000000 000000000000 0000 00000065 00000065
// expect 1 00 00000000 000000000000 0000 00000000 000000000000 0000 00000065 00000065
// Kind 1, a flow enters: rates and flows stop at their largest numbers, desires have 48 bits.
// packet 0 01 00000064 000000000064 0005 00000000 000000000000 0000 00000032 00000014
// expect 1 01 00000096 000000000078 0006 00000000 000000000000 0000 00000032 00000014
// packet 0 01 fffffff0 0000fffffff0 ffff 00000000 000000000000 0000 00000020 00000020
// expect 1 01 ffffffff 000100000010 ffff 00000000 000000000000 0000 00000020 00000020
// Kind 2, a request in an epoch after the last one's: the same, the next, and a later one.
// packet 0 02 00000001 000000000002 0003 00000004 000000000005 0006 00008007 00008007
// expect 1 02 00000001 000000000002 0003 00000004 000000000005 0006 00008007 00008007
// packet 0 02 00000001 000000000002 0003 00000004 000000000005 0006 00008007 00008008
// expect 1 02 00000004 000000000005 0006 00000000 000000000000 0000 00008007 00008008
// packet 0 02 00000001 000000000002 0003 00000004 000000000005 0006 00008006 00008008
// expect 1 02 00000000 000000000000 0000 00000000 000000000000 0000 00008006 00008008
// packet 0 02 00000001 000000000002 0003 00000004 000000000005 0006 00000000 00008008
// expect 1 02 00000000 000000000000 0000 00000000 000000000000 0000 00000000 00008008
// Epochs wrap with their valid bit set.
// packet 0 02 00000001 000000000002 0003 00000004 000000000005 0006 0000ffff 00008000
// expect 1 02 00000004 000000000005 0006 00000000 000000000000 0000 0000ffff 00008000
// Kind 3, a rate and its limit.
// packet 0 03 00000000 000000000000 0000 00000000 000000000000 0000 00000065 00000064
// expect 1 03 00000000 000000000000 0000 00000000 000000000000 0000 00000064 00000064
// packet 0 03 00000000 000000000000 0000 00000000 000000000000 0000 00000063 00000064
// expect 1 03 00000000 000000000000 0000 00000000 000000000000 0000 00000063 00000064
#include <core.p4>
#include <v1model.p4>
#include "../../../../p4src/include/headers.p4"
#include "../../../../p4src/include/rate.p4"

header data_h {
    bit<8>  kind;
    bit<32> used_given;
    bit<48> used_wanted;
    bit<16> used_count;
    bit<32> fresh_given;
    bit<48> fresh_wanted;
    bit<16> fresh_count;
    bit<32> first;
    bit<32> second;
}

struct headers_t {
    data_h         data;
    ipv4_h         ipv4;
    rate_request_h rate_request;
    rate_hop_h     rate_hop;
}

struct metadata_t {}

#include "../../../../p4src/controls/d3.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        d3_account_t used;
        d3_account_t fresh;
        used.given = hdr.data.used_given;
        used.wanted = hdr.data.used_wanted;
        used.count = hdr.data.used_count;
        fresh.given = hdr.data.fresh_given;
        fresh.wanted = hdr.data.fresh_wanted;
        fresh.count = hdr.data.fresh_count;
        if (hdr.data.kind == 0) {
            take_back(used, hdr.data.first, hdr.data.second);
        } else if (hdr.data.kind == 1) {
            enter(used, hdr.data.first, hdr.data.second);
        } else if (hdr.data.kind == 2) {
            begin_epoch(used, fresh, (bit<16>)hdr.data.first, (bit<16>)hdr.data.second);
        } else {
            hdr.data.first = at_most(hdr.data.first, hdr.data.second);
        }
        hdr.data.used_given = used.given;
        hdr.data.used_wanted = used.wanted;
        hdr.data.used_count = used.count;
        hdr.data.fresh_given = fresh.given;
        hdr.data.fresh_wanted = fresh.wanted;
        hdr.data.fresh_count = fresh.count;
    }
}

#include "include/pipe.p4"
