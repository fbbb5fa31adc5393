// PINT for HPCC (docs/algorithms/hpcc.md#pint): each port keeps its own utilisation U, and the packet carries
// the largest of its path in one byte.
//
// U <- (1 - dt/T) U + (dt/T) q/(B T) + bytes/(B T), with q the queue that the packet leaves, and dt and bytes
// of the packet before. U is in units of 2^-32 and stays at its largest value, 512: what one packet adds or
// takes is many units, even where a million of them pass in T.
//
// The byte is the logarithm of 512 U, rounded up or down at random so that the mean of what senders decode is
// U. A number of up to 18 bits is cut to its first seven: they choose a cell of the table, and what was cut
// off interpolates within it.
//
// A chip that cannot multiply would add logarithms in place of the products here; v1model multiplies.

#ifndef P4CC_PINT
#define P4CC_PINT

#include "../include/transport.p4"
#include "../include/int.p4"
#include "../include/sizes.p4"
#include "../adaptors/dice.p4"

// Of 512 U; one more is 2^18.
const bit<32> PINT_LARGEST = 0x3ffff;
// Of U: one more is 512.
const bit<64> PINT_LARGEST_UTILISATION = 0x1ffffffffff;

// The power of 512 U, in units of 2^-16, by a table that the controller fills.
control PintLogarithm(in bit<48> utilisation, out bit<32> power) {
    bit<32> cell_power;
    bit<32> cell_slope;

    // `power`: of the cell's first number, in units of 2^-16; `slope`: how much more the next number has, in
    // units of 2^-26.
    action set_cell(
        @p4cc_role("power") bit<32> first,
        @p4cc_role("slope") bit<32> rise
    ) {
        cell_power = first;
        cell_slope = rise;
    }

    bit<32> cell;

    // Without entries every port looks idle.
    @p4cc_role("pint.logarithm")
    table logarithm {
        key = {
            cell: exact @name("cell");
        }
        actions = {
            set_cell;
            NoAction;
        }
        const default_action = NoAction();
        size = PINT_CELLS;
    }

    apply {
        cell_power = 0;
        cell_slope = 0;
        // Rounded up, so that the smallest utilisation is 1, whose power is 0.
        bit<32> number = (bit<32>)((utilisation + 0x7fffff) >> 23);
        if (number > PINT_LARGEST) {
            number = PINT_LARGEST;
        }
        bit<32> high = number;
        bit<8> shift = 0;
        if (high >= 0x8000) {
            high = high >> 8;
            shift = 8;
        }
        if (high >= 0x800) {
            high = high >> 4;
            shift = shift + 4;
        }
        if (high >= 0x200) {
            high = high >> 2;
            shift = shift + 2;
        }
        if (high >= 0x100) {
            high = high >> 1;
            shift = shift + 1;
        }
        if (high >= 0x80) {
            high = high >> 1;
            shift = shift + 1;
        }
        cell = ((bit<32>)shift << 6) + high;
        logarithm.apply();
        power = cell_power + (((number - (high << shift)) * cell_slope) >> 10);
    }
}

// `queue_depth` as the packet leaves it.
control Pint(inout headers_t hdr, in port_t egress_port, in time_t now, in queue_depth_t queue_depth) {
    PintLogarithm() logarithm;
    Dice() dice;

    // Of each port: its utilisation, and when which bytes began to leave.
    register<bit<48>>(PORT_COUNT) utilisations;
    register<time_t>(PORT_COUNT) departures;
    register<bit<32>>(PORT_COUNT) sent_bytes;

    bool is_port;
    bit<32> interval;
    bit<48> interval_share;
    bit<32> gain;
    bit<32> depth_bytes;
    bit<32> framing_bytes;

    // `interval`: T. `share`: of T in one unit of time, in units of 2^-48. `gain`: 1/(B T) in units of 2^-39
    // for each byte. `unit`: bytes of one unit of the queue's depth. `framing`: what the link adds to IP.
    action set_port(
        @p4cc_role("interval") @p4cc_unit("ticks") bit<32> length,
        @p4cc_role("interval_share") bit<48> share,
        @p4cc_role("gain") bit<32> byte_gain,
        @p4cc_role("bytes_per_depth") bit<12> unit,
        @p4cc_role("framing_bytes") bit<8> framing
    ) {
        is_port = true;
        interval = length;
        interval_share = share;
        gain = byte_gain;
        depth_bytes = (bit<32>)unit;
        framing_bytes = (bit<32>)framing;
    }

    // A port without an entry neither measures nor writes.
    @p4cc_role("pint.ports")
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
        is_port = false;
        interval = 0;
        interval_share = 0;
        gain = 0;
        depth_bytes = 0;
        framing_bytes = 0;
        ports.apply();
        if (is_port) {
            bit<32> port = (bit<32>)egress_port;
            bit<48> before;
            time_t departure;
            bit<32> bytes;
            utilisations.read(before, port);
            departures.read(departure, port);
            sent_bytes.read(bytes, port);
            // Of T, how much passed since the packet before left, in units of 2^-32: all of it at most.
            // Products of U leave out the last nine of its bits, to have 64.
            time_t elapsed = now - departure;
            bit<64> share = 0xffffffff;
            bit<64> kept = 0;
            if (elapsed < (time_t)interval) {
                share = ((bit<64>)elapsed * (bit<64>)interval_share) >> 16;
                kept = (bit<64>)before - ((((bit<64>)before >> 9) * share) >> 23);
            }
            bit<64> queue = ((bit<64>)queue_depth * (bit<64>)depth_bytes * (bit<64>)gain) >> 16;
            if (queue > 0xffffffff) {
                queue = 0xffffffff;
            }
            bit<64> sum = kept + ((queue * share) >> 23) + (((bit<64>)bytes * (bit<64>)gain) >> 7);
            if (sum > PINT_LARGEST_UTILISATION) {
                sum = PINT_LARGEST_UTILISATION;
            }
            bit<48> utilisation = sum[47:0];
            utilisations.write(port, utilisation);
            departures.write(port, now);
            sent_bytes.write(port, (bit<32>)hdr.ipv4.total_len + framing_bytes);
            if (hdr.pint.isValid()) {
                bit<32> power;
                bit<16> drawn;
                logarithm.apply(utilisation, power);
                dice.apply(drawn);
                bit<8> rounded = power[23:16];
                if (drawn < power[15:0]) {
                    rounded = rounded |+| 1;
                }
                if (rounded > hdr.pint.power) {
                    hdr.pint.power = rounded;
                }
            }
        }
    }
}

#endif
