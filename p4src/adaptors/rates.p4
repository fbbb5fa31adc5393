// The lower of two rates, and sums of rates, as a software switch finds them. `tna.p4` of this folder
// has the same for the chip; whichever file a program includes first counts.

#ifndef P4CC_RATES
#define P4CC_RATES

#include "../include/sizes.p4"
#include "../include/transport.p4"

control LowerRate(inout rate_kbps_t rate, in rate_kbps_t bound) {
    apply {
        if (bound < rate) {
            rate = bound;
        }
    }
}

control RateExceeds(in rate_kbps_t rate, in rate_kbps_t bound, out bool exceeds) {
    apply {
        exceeds = rate > bound;
    }
}

// The sum of a port in a round, with this amount; it begins at nothing with another round.
control RoundSum(in port_t port, in bit<32> round, in rate_kbps_t amount, out rate_kbps_t sum) {
    register<bit<32>>(PORT_COUNT) rounds;
    register<bit<32>>(PORT_COUNT) sums;

    apply {
        bit<32> last;
        rounds.read(last, (bit<32>)port);
        sums.read(sum, (bit<32>)port);
        if (last != round) {
            sum = 0;
        }
        sum = sum + amount;
        rounds.write((bit<32>)port, round);
        sums.write((bit<32>)port, sum);
    }
}

#endif
