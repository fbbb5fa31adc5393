// In-band telemetry on the wire: HPCC's hop records (extension 1), INT-MD 2.1 (extension 2), PINT (11).

#ifndef P4CC_INT
#define P4CC_INT

// Extension 1 begins with this; the records follow, the latest switch's first.
header int_shim_h {
    // Switches passed that do INT, whether they had room for a record or not; stays at 15.
    bit<4> hop_count;
    // Exclusive or of the switches' ids: changes with the path.
    bit<12> path_id;
}

header int_hop_h {
    // Code of the line rate in the table that the controller gives to switches and hosts.
    bit<4> rate_code;
    // Time of dequeue, low bits.
    bit<24> timestamp;
    // Bytes that the port sent before this packet, in units of 128 B * 2^unit_shift, low bits.
    bit<20> tx_units;
    // What the queue held when this packet had left it, in
    // units of 80 B * 2^unit_shift; stays at its largest value.
    bit<16> queue_units;
}

// Extension 7 is the same with room for five records from
// the start, those of hops to come zero: nothing grows.
#define INT_FIXED_RECORDS 5
const bit<8> INT_FIXED_BYTES = 42;

const bit<8> INT_SHIM_BYTES = 2;
const bit<8> INT_HOP_BYTES = 8;
// Records that fit an extension whatever the controller says: 2 + 8 * 8 bytes.
const bit<4> INT_HOPS_MAX = 8;

// INT-MD 2.1: shim, metadata header, and what one hop adds, in the order of the instruction bits.
header int_md_shim_h {
    bit<4> int_type;
    bit<2> next_protocol_type;
    bit<2> reserved;
    // Words of four bytes behind the shim.
    bit<8> length_words;
    bit<16> original;
}

header int_md_h {
    bit<4> version;
    bit<1> discard;
    // E: a switch found the remaining hop count at 0.
    bit<1> hops_exceeded;
    // M: a switch had no room.
    bit<1> mtu_exceeded;
    bit<12> reserved;
    // Words of four bytes that each hop adds.
    bit<5> hop_words;
    bit<8> remaining_hops;
    bit<16> instructions;
    bit<16> domain_id;
    bit<16> domain_instructions;
    bit<16> domain_flags;
}

header int_node_h { bit<32> node_id; }
header int_ports_h { bit<16> ingress_port; bit<16> egress_port; }
header int_latency_h { bit<32> latency; }
header int_queue_h { bit<8> queue_id; bit<24> occupancy; }
header int_time_h { bit<64> time; }
header int_tx_h { bit<32> tx_bytes; }
header int_word_h { bit<32> value; }
header int_two_words_h { bit<64> value; }

const bit<4> INT_TYPE_MD = 1;
const bit<4> INT_MD_VERSION = 2;
// Words of the metadata header itself.
const bit<8> INT_MD_HEADER_WORDS = 3;
const bit<10> INT_MD_SHIM_BYTES = 4;

// PINT: the utilisation of the busiest port so far, as a logarithm.
header pint_h {
    bit<8> power;
}

const bit<8> PINT_BYTES = 1;

#endif
