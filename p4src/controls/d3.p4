// D3's rate allocator of one switch (docs/algorithms/d3-rcp.md#d3-switch): greedy for deadlines in order of
// arrival, a fair share of the rest on top, the base rate when nothing is left.
//
// State is per port only. A request brings back what this hop gave last time, stamped with the epoch in which
// it was given. Counters are kept twice: those in use, and those of the flows that asked in the present
// epoch; when an epoch ends the second take the place of the first. So a flow is in the counters in use
// exactly if its last grant is of this epoch or the one before, whatever requests, returns or FINs were lost,
// and a flow that vanished is forgotten after the end of the epoch that follows its last request.
//
// Rules that hosts keep (docs/reference/wire-format.md): a
// request whose return did not come gives its rate up and
// brings back nothing (epoch 0), so that no rate is given back twice.
//
// C_e, what a port may give, is the controller's capacity C, or follows
// load and queue (capacity_estimate.p4). Desires are counted up to C,
// which does not move, so that what comes back is what was counted.
//
// Bounds, all rates in kbit/s:
//   allocated  32 bits, at most the capacity where grants
//   are clamped to what is left; by the published rule a
//              fair share may exceed that, and the counter stays at its end: it cannot wrap.
//   demand     48 bits; a request counts at most the capacity, so 65535 flows of 2^29 stay below 2^45.
//   flows      16 bits, stays at 65535; the count is right again after an epoch.
//   epoch      15 bits and a valid bit; wraps after 32768 epochs. A host may not bring back a grant that old.
// Every subtraction stops at 0. Grants of the base rate are 0 in `granted` and in the counters
// (docs/algorithms/d3-rcp.md#choice-d3-base-rate).

#ifndef P4CC_D3
#define P4CC_D3

#include "../include/rate.p4"
#include "../include/sizes.p4"
#include "capacity_estimate.p4"

typedef bit<48> demand_t;
typedef bit<16> flow_count_t;

// What a port has given, what its flows want, and how many they are.
struct d3_account_t {
    rate_kbps_t given;
    demand_t wanted;
    flow_count_t count;
}

// The epoch before.
bit<16> epoch_before(in bit<16> epoch) {
    return EPOCH_VALID | (epoch - 1);
}

// What a flow brings back leaves an account.
void take_back(inout d3_account_t account, in rate_kbps_t granted, in rate_kbps_t desired) {
    account.given = account.given |-| granted;
    account.wanted = account.wanted |-| (demand_t)desired;
    account.count = account.count |-| 1;
}

// What it gets enters one.
void enter(inout d3_account_t account, in rate_kbps_t granted, in rate_kbps_t desired) {
    account.given = account.given |+| granted;
    account.wanted = account.wanted + (demand_t)desired;
    account.count = account.count |+| 1;
}

// The first request of an epoch: what was counted in the
// epoch before is in use now, and nothing if there was none.
void begin_epoch(inout d3_account_t used, inout d3_account_t fresh, in bit<16> last, in bit<16> epoch) {
    if (last != epoch) {
        used = fresh;
        fresh.given = 0;
        fresh.wanted = 0;
        fresh.count = 0;
        if (last != epoch_before(epoch)) {
            used = fresh;
        }
    }
}

rate_kbps_t at_most(in rate_kbps_t rate, in rate_kbps_t limit) {
    if (rate > limit) {
        return limit;
    }
    return rate;
}

// The rule: what a flow gets that desires `wanted` and is in the account no more. 0 is
// the base rate. As published a flow gets desire and fair share where more is left than
// it desires, and what is left otherwise. Clamped it never gets more than is left.
control D3Rule(in d3_account_t used, in rate_kbps_t wanted, in rate_kbps_t capacity, in rate_kbps_t base,
               in bool is_clamped, out rate_kbps_t granted) {
    flow_count_t count;
    bit<32> reciprocal;

    action set_reciprocal(bit<32> value) {
        reciprocal = value;
    }

    // floor((2^32 - 1) / flows) by number of flows, filled by the controller: targets have no division. A
    // number that is not there gives no fair share.
    @p4cc_role("d3.reciprocals")
    table reciprocals {
        key = {
            count: exact @name("flows");
        }
        actions = {
            set_reciprocal;
            NoAction;
        }
        const default_action = NoAction();
        size = RECIPROCAL_SIZE;
    }

    apply {
        count = used.count |+| 1;
        reciprocal = 0;
        reciprocals.apply();
        bit<64> unwanted = (bit<64>)((demand_t)capacity |-| (used.wanted + (demand_t)wanted));
        rate_kbps_t share = (rate_kbps_t)((unwanted * (bit<64>)reciprocal) >> 32);
        rate_kbps_t left = capacity |-| used.given;
        granted = left;
        if (left > wanted && (!is_clamped || left - wanted > share)) {
            granted = wanted |+| share;
        }
        if (granted < base) {
            granted = 0;
        }
    }
}

control D3Allocator(inout headers_t hdr, in port_t egress_port, in time_t now, in queue_depth_t queue_depth) {
    // In use.
    register<rate_kbps_t>(PORT_COUNT) allocated;
    register<demand_t>(PORT_COUNT) demand;
    register<flow_count_t>(PORT_COUNT) flows;
    // Of the flows that asked in this epoch.
    register<rate_kbps_t>(PORT_COUNT) epoch_allocated;
    register<demand_t>(PORT_COUNT) epoch_demand;
    register<flow_count_t>(PORT_COUNT) epoch_flows;
    // Epoch of the last request, 0 before the first.
    register<bit<16>>(PORT_COUNT) epochs;

    bool is_port;
    rate_kbps_t rate_of_link;
    rate_kbps_t base;
    bit<6> epoch_shift;
    bool is_clamped;

    // `rate`: C; `least`: a share below it is the base rate instead; `shift`: an epoch is 2^shift
    // units of time. Grants are clamped to what is left.
    action set_port(
        @p4cc_role("capacity_kbps") rate_kbps_t rate,
        @p4cc_role("base_kbps") rate_kbps_t least,
        @p4cc_role("epoch_shift") bit<6> shift
    ) {
        is_port = true;
        rate_of_link = rate;
        base = least;
        epoch_shift = shift;
        is_clamped = true;
    }

    // The same, and grants by the published rule.
    action set_port_as_published(
        @p4cc_role("capacity_kbps") rate_kbps_t rate,
        @p4cc_role("base_kbps") rate_kbps_t least,
        @p4cc_role("epoch_shift") bit<6> shift
    ) {
        is_port = true;
        rate_of_link = rate;
        base = least;
        epoch_shift = shift;
        is_clamped = false;
    }

    // A port without an entry allocates nothing and leaves requests alone.
    @p4cc_role("d3.ports")
    table ports {
        key = {
            egress_port: exact @name("egress_port");
        }
        actions = {
            set_port;
            set_port_as_published;
            NoAction;
        }
        const default_action = NoAction();
        size = PORT_COUNT;
    }

    CapacityEstimate() estimate;
    D3Rule() rule;

    apply {
        is_port = false;
        rate_of_link = 0;
        base = 0;
        epoch_shift = 0;
        is_clamped = true;
        ports.apply();
        rate_kbps_t capacity = rate_of_link;
        if (is_port) {
            estimate.apply(egress_port, now, queue_depth, hdr.ipv4.total_len, capacity);
        }
        if (is_port && hdr.rate_hop.isValid()) {
            @atomic {
                bit<32> cell = (bit<32>)egress_port;
                d3_account_t used;
                d3_account_t fresh;
                bit<16> last;
                allocated.read(used.given, cell);
                demand.read(used.wanted, cell);
                flows.read(used.count, cell);
                epoch_allocated.read(fresh.given, cell);
                epoch_demand.read(fresh.wanted, cell);
                epoch_flows.read(fresh.count, cell);
                epochs.read(last, cell);
                bit<16> epoch = EPOCH_VALID | (bit<16>)(now >> epoch_shift);
                begin_epoch(used, fresh, last, epoch);

                rate_kbps_t before = at_most(hdr.rate_request.desired_before, rate_of_link);
                bit<16> asked = hdr.rate_hop.epoch_before;
                if (asked == epoch) {
                    take_back(fresh, hdr.rate_hop.granted_before, before);
                }
                if (asked == epoch || asked == epoch_before(epoch)) {
                    take_back(used, hdr.rate_hop.granted_before, before);
                }
                hdr.rate_hop.granted = 0;
                hdr.rate_hop.epoch = 0;
                if (hdr.rate_request.fin == 0) {
                    rate_kbps_t wanted = at_most(hdr.rate_request.desired, rate_of_link);
                    rule.apply(used, wanted, capacity, base, is_clamped, hdr.rate_hop.granted);
                    enter(used, hdr.rate_hop.granted, wanted);
                    enter(fresh, hdr.rate_hop.granted, wanted);
                    hdr.rate_hop.epoch = epoch;
                    if (hdr.rate_hop.granted == 0) {
                        hdr.rate_request.base_rate = 1;
                    }
                }
                hdr.rate_request.hop_index = hdr.rate_request.hop_index + 1;

                epochs.write(cell, epoch);
                allocated.write(cell, used.given);
                demand.write(cell, used.wanted);
                flows.write(cell, used.count);
                epoch_allocated.write(cell, fresh.given);
                epoch_demand.write(cell, fresh.wanted);
                epoch_flows.write(cell, fresh.count);
            }
        } else if (is_port && hdr.rate_request.isValid()) {
            // All records are used.
            hdr.rate_request.overflow = 1;
        }
    }
}

#endif
