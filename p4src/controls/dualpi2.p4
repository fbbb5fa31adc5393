// DualPI2, the dual-queue coupled AQM of RFC 9332 (docs/algorithms/prague.md#dualpi2).
//
// Packets of L4S (ECT(1) or CE, RFC 9331) have a queue of their own, which is served first; the others share
// the Classic queue. A PI controller keeps the Classic queue's delay at a target: once in an interval the
// base probability moves by alpha (delay - target) + beta (delay - delay before). Classic packets are marked,
// or dropped where they are not capable of ECN, with its square; packets of L4S are marked with the base
// probability times 2^coupling_shift, and always behind a delay above the step.
//
// There is no timer: the first packet that leaves after an interval's end makes the step, and a square is two
// draws. The delay is that of the newest Classic packet which left; where none did in an interval although
// one waits, which ingress knows, it is the time since that packet joined. Probabilities are in units of
// 2^-32, gains in units of 2^-48 for one unit of time.
//
// Bounds: the base probability stays below 2^-coupling_shift, which is certainty for L4S and a quarter for
// Classic packets with a shift of 1; what then still comes fills the queue.

#ifndef P4CC_DUALPI2
#define P4CC_DUALPI2

#include "../include/transport.p4"
#include "../include/sizes.p4"

typedef bit<32> probability_t;

const ecn_t DUALPI2_NOT_CAPABLE = 0;
const ecn_t DUALPI2_ECT_0 = 2;
const ecn_t DUALPI2_ECT_1 = 1;
const ecn_t DUALPI2_CE = 3;

const bit<64> MOST_PROBABILITY = 0xffffffff;

// When the newest Classic packet came to a port. Egress reads what ingress writes, so it belongs to neither.
register<time_t>(PORT_COUNT) dualpi2_classic_arrivals;

// The queue of a packet, in ingress: 1 for L4S, 0 for Classic.
control DualQueue(in ecn_t ecn, in port_t egress_port, in time_t now, inout priority_t priority) {
    apply {
        if (ecn == DUALPI2_ECT_1 || ecn == DUALPI2_CE) {
            priority = 1;
        } else {
            priority = 0;
            dualpi2_classic_arrivals.write((bit<32>)egress_port, now);
        }
    }
}

// What the controller says of a port; times in the switch's unit.
struct dualpi2_port_t {
    bit<32> target;
    bit<32> interval;
    bit<32> alpha;
    bit<32> beta;
    // What an idle Classic queue takes off the base probability in a unit of time.
    bit<32> decay;
    bit<32> l4s_step;
    bit<4> coupling_shift;
}

// One step of the PI controller.
control DualPi2Step(inout probability_t base, in dualpi2_port_t port, in bit<32> delay, in bit<32> before,
                    in bit<32> idle) {
    apply {
        bit<64> up = (bit<64>)port.alpha * (bit<64>)delay |+| (bit<64>)port.beta * (bit<64>)delay;
        bit<64> down = (bit<64>)port.alpha * (bit<64>)port.target |+| (bit<64>)port.beta * (bit<64>)before;
        down = down |+| (bit<64>)port.decay * (bit<64>)idle;
        bit<64> next = ((bit<64>)base + ((up |-| down) >> 16)) |-| ((down |-| up) >> 16);
        bit<64> most = MOST_PROBABILITY >> port.coupling_shift;
        if (next > most) {
            next = most;
        }
        base = (probability_t)next;
    }
}

// At the packet's departure, with the time that it waited. Needs the architecture's `random`.
control DualPi2(inout ecn_t ecn, in port_t egress_port, in bit<32> waited, in time_t now, out bool drops) {
    // Packets with CE set here, and packets dropped: cell = port * 4 + 0 for Classic marks, 1 for drops, 2
    // for L4S marks by the coupling, 3 for those by the step.
    @p4cc_role("dualpi2.signals")
    counter(LEVEL_COUNTER_SIZE, CounterType.packets) signals;

    // p', of each port.
    register<probability_t>(PORT_COUNT) base_probabilities;
    // When the last interval began.
    register<time_t>(PORT_COUNT) interval_starts;
    // Of the newest Classic packet: what it waited, and when it left.
    register<bit<32>>(PORT_COUNT) classic_delays;
    register<time_t>(PORT_COUNT) classic_departures;
    // The delay at the last step.
    register<bit<32>>(PORT_COUNT) delays_before;

    DualPi2Step() step;

    bool is_port;
    dualpi2_port_t port;

    action set_port(
        @p4cc_unit("ticks") bit<32> target,
        @p4cc_role("interval") @p4cc_unit("ticks") bit<32> t,
        bit<32> alpha,
        bit<32> beta,
        bit<32> decay,
        @p4cc_unit("ticks") bit<32> l4s_step,
        @p4cc_role("coupling_shift") bit<4> coupling
    ) {
        is_port = true;
        port.target = target;
        port.interval = t;
        port.alpha = alpha;
        port.beta = beta;
        port.decay = decay;
        port.l4s_step = l4s_step;
        port.coupling_shift = coupling;
    }

    // A port without an entry neither marks nor drops.
    @p4cc_role("dualpi2.ports")
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
        drops = false;
        is_port = false;
        port.target = 0;
        port.interval = 0;
        port.alpha = 0;
        port.beta = 0;
        port.decay = 0;
        port.l4s_step = 0;
        port.coupling_shift = 0;
        ports.apply();
        if (is_port) {
            bit<32> cell = (bit<32>)egress_port;
            bool is_l4s = ecn == DUALPI2_ECT_1 || ecn == DUALPI2_CE;
            bit<32> delay;
            time_t seen;
            classic_delays.read(delay, cell);
            classic_departures.read(seen, cell);
            if (!is_l4s) {
                delay = waited;
                seen = now;
                classic_delays.write(cell, delay);
                classic_departures.write(cell, seen);
            }

            probability_t base;
            time_t start;
            base_probabilities.read(base, cell);
            interval_starts.read(start, cell);
            time_t elapsed = now - start;
            time_t interval = (time_t)port.interval;
            if (elapsed >= interval) {
                bit<32> before;
                delays_before.read(before, cell);
                if (now - seen >= interval) {
                    time_t joined = seen - (time_t)delay;
                    time_t newest;
                    dualpi2_classic_arrivals.read(newest, cell);
                    // 2^47 is the sign of a difference modulo 2^48.
                    bool waits = newest != joined && newest - joined < 0x800000000000;
                    delay = 0;
                    if (waits) {
                        delay = now - joined > 0xffffffff ? 0xffffffff : (bit<32>)(now - joined);
                    }
                }
                bit<32> idle = 0;
                start = start + interval;
                if (elapsed >= interval + interval) {
                    // Intervals without a packet: the queue was empty in them.
                    time_t rest = elapsed - interval;
                    idle = rest > 0xffffffff ? 0xffffffff : (bit<32>)rest;
                    start = now;
                }
                step.apply(base, port, delay, before, idle);
                base_probabilities.write(cell, base);
                delays_before.write(cell, delay);
                interval_starts.write(cell, start);
            }

            bit<2> signal = 0;
            bool is_due = false;
            probability_t dice;
            if (is_l4s) {
                signal = 2;
                probability_t coupled = base << port.coupling_shift;
                random<probability_t>(dice, 0, 0xffffffff);
                is_due = dice < coupled;
                if (waited > port.l4s_step) {
                    signal = 3;
                    is_due = true;
                }
            } else {
                probability_t second;
                random<probability_t>(dice, 0, 0xffffffff);
                random<probability_t>(second, 0, 0xffffffff);
                is_due = dice < base && second < base;
                if (ecn == DUALPI2_NOT_CAPABLE) {
                    signal = 1;
                }
            }
            if (is_due && ecn != DUALPI2_CE) {
                if (ecn == DUALPI2_NOT_CAPABLE) {
                    drops = true;
                } else {
                    ecn = DUALPI2_CE;
                }
                signals.count((bit<32>)(egress_port ++ signal));
            }
        }
    }
}

#endif
