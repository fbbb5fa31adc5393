// D3's grants on a switch that cannot allot them in the order of requests
// (docs/algorithms/d3-rcp.md#d3-switch): it sums what flows desire, counts requests, and stamps what the
// controller has made of them (experiments/tofino/d3.py).
//
// A grant is the desire up to a bound, and a fair share on top: `set_share` has both. Grants of a round,
// which ends when the controller writes another number, are summed in the order of requests; one that is
// more than is left gets the base rate. Nothing has to be brought back, since each round begins at nothing.

#ifndef P4CC_D3_STAMP
#define P4CC_D3_STAMP

#include "../include/rate.p4"
#include "../include/sizes.p4"
#include "../adaptors/objects.p4"
#include "../adaptors/rates.p4"

control D3Stamp(inout headers_t hdr, in port_t egress_port) {
    LowerRate() at_most;
    RoundSum() allotted;
    RateExceeds() exceeds;

    rate_kbps_t desired;
    bit<32> one;

    // Since the start, both modulo 2^32: what requests desired in units of 2^10 kbit/s rounded down, and
    // how many came.
    SUM_REGISTER(demand, PORT_COUNT, desired);
    SUM_REGISTER(requests, PORT_COUNT, one);

    bool is_port;
    rate_kbps_t capacity;
    rate_kbps_t bound;
    rate_kbps_t share;
    bit<32> round;

    // `rate`: capacity; `most`: bound of a desire, at most the capacity; `fair`: what every flow gets
    // besides; `number`: of the round, another one each time.
    action set_share(
        @p4cc_role("rate_kbps") rate_kbps_t rate,
        @p4cc_role("most_kbps") rate_kbps_t most,
        @p4cc_role("fair_kbps") rate_kbps_t fair,
        bit<32> number
    ) {
        is_port = true;
        capacity = rate;
        bound = most;
        share = fair;
        round = number;
    }

    // A port without an entry allots nothing and leaves requests alone.
    @p4cc_role("d3_stamp.ports")
    table stamped {
        key = {
            egress_port: exact @name("egress_port");
        }
        actions = {
            set_share;
            NoAction;
        }
        const default_action = NoAction();
        size = PORT_COUNT;
    }

    apply {
        is_port = false;
        capacity = 0;
        bound = 0;
        share = 0;
        round = 0;
        one = 1;
        desired = 0;
        stamped.apply();
        if (is_port && hdr.rate_hop.isValid()) {
            rate_kbps_t granted = hdr.rate_request.desired;
            hdr.rate_hop.granted = 0;
            hdr.rate_hop.epoch = 0;
            if (hdr.rate_request.fin == 0) {
                bit<32> before;
                desired = granted >> 10;
                ADD_TO_SUM(demand, egress_port, desired, before);
                ADD_TO_SUM(requests, egress_port, one, before);
                at_most.apply(granted, bound);
                granted = granted + share;
                rate_kbps_t sum;
                bool is_full;
                allotted.apply(egress_port, round, granted, sum);
                exceeds.apply(sum, capacity, is_full);
                hdr.rate_hop.epoch = EPOCH_VALID;
                if (is_full || granted == 0) {
                    hdr.rate_request.base_rate = 1;
                } else {
                    hdr.rate_hop.granted = granted;
                }
            }
            hdr.rate_request.hop_index = hdr.rate_request.hop_index + 1;
        } else if (is_port && hdr.rate_request.isValid()) {
            // All records are used.
            hdr.rate_request.overflow = 1;
        }
    }
}

#endif
