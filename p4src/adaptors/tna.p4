// What the controls need of an architecture, on Tofino (TNA and T2NA). A program includes this file behind
// its `headers_t` and before its controls; without it they get v1model's (the other files of this folder).
//
// The chip compares no two fields, multiplies by powers of two only, and gives a packet one access to a
// register.

#ifndef P4CC_TNA
#define P4CC_TNA

#define P4CC_ARITHMETIC
#define P4CC_OBJECTS
#define P4CC_ECMP
#define P4CC_DICE
#define P4CC_RATES

#include "../include/headers.p4"
#include "../include/sizes.p4"
#include "../include/transport.p4"

#define PACKET_COUNTER(SIZE) Counter<bit<32>, bit<32>>(SIZE, CounterType_t.PACKETS)

// Bytes of a packet on the link. Of the width of the IP length, since the chip moves no field between
// containers of different widths; its longest frame has some 10,000 bytes.
typedef bit<16> link_bytes_t;

// An action of its own: the compiler would make one sum of several, and the chip adds two operands.
control AddBytes(inout link_bytes_t bytes, in link_bytes_t more) {
    action add() {
        bytes = bytes + more;
    }

    apply {
        add();
    }
}

// The depth that comes with a packet may lie in two containers: a stage takes one of them.
control WideDepth(in queue_depth_t depth, out bit<32> wide) {
    action take_low() {
        wide = (bit<32>)depth[15:0];
    }

    action take_high() {
        wide[18:16] = depth[18:16];
    }

    apply {
        take_low();
        take_high();
    }
}

// A depth has reached a threshold if nothing is left of the threshold
// without it. Saturation needs 32 bits, and an action of its own: what
// stands in `apply` the compiler makes a comparison of two fields again.
control DepthReaches(in bit<32> depth, in bit<32> threshold, out bool reached) {
    bit<32> left;

    action subtract() {
        left = threshold |-| depth;
        reached = false;
    }

    apply {
        subtract();
        if (left == 0) {
            reached = true;
        }
    }
}

// One access both adds and reads.
#define SUM_REGISTER(NAME, SIZE, BYTES) \
    Register<bit<32>, bit<32>>(SIZE) NAME; \
    RegisterAction<bit<32>, bit<32>, bit<32>>(NAME) NAME##_add = { \
        void apply(inout bit<32> sum, out bit<32> before) { \
            before = sum; \
            sum = sum + (bit<32>)BYTES; \
        } \
    }
#define ADD_TO_SUM(NAME, INDEX, BYTES, BEFORE) BEFORE = NAME##_add.execute((bit<32>)INDEX)

#define KEEP_REGISTER(NAME, SIZE, VALUE) \
    Register<bit<32>, bit<32>>(SIZE) NAME; \
    RegisterAction<bit<32>, bit<32>, bit<32>>(NAME) NAME##_keep = { \
        void apply(inout bit<32> kept) { \
            kept = VALUE; \
        } \
    }
#define KEEP(NAME, INDEX, VALUE) NAME##_keep.execute((bit<32>)INDEX)

control LowerRate(inout rate_kbps_t rate, in rate_kbps_t bound) {
    action choose(rate_kbps_t other) {
        rate = min(rate, other);
    }

    apply {
        choose(bound);
    }
}

control RateExceeds(in rate_kbps_t rate, in rate_kbps_t bound, out bool exceeds) {
    rate_kbps_t over;

    action subtract() {
        over = rate |-| bound;
        exceeds = false;
    }

    apply {
        subtract();
        if (over != 0) {
            exceeds = true;
        }
    }
}

struct round_sum_t {
    bit<32> round;
    bit<32> sum;
}

// Both halves of a register in one access.
control RoundSum(in port_t port, in bit<32> round, in rate_kbps_t amount, out rate_kbps_t sum) {
    Register<round_sum_t, bit<32>>(PORT_COUNT) sums;
    RegisterAction<round_sum_t, bit<32>, bit<32>>(sums) add = {
        void apply(inout round_sum_t kept, out bit<32> now) {
            if (kept.round == round) {
                kept.sum = kept.sum + amount;
            } else {
                kept.sum = amount;
            }
            kept.round = round;
            now = kept.sum;
        }
    };

    apply {
        sum = add.execute((bit<32>)port);
    }
}

control Below(in bit<8> number, in bit<8> bound, out bool below) {
    bit<8> left;

    action subtract() {
        left = bound |-| number;
        below = false;
    }

    apply {
        subtract();
        if (left != 0) {
            below = true;
        }
    }
}

control Lower(in bit<16> number, in bit<16> bound, out bool lower) {
    bit<16> left;

    action subtract() {
        left = bound |-| number;
        lower = false;
    }

    apply {
        subtract();
        if (left != 0) {
            lower = true;
        }
    }
}

control Dice(out bit<16> drawn) {
    Random<bit<16>>() numbers;

    apply {
        drawn = numbers.get();
    }
}

// Members have the selector's name, by which a controller knows them. The polynomial is CCITT's: that of
// the algorithm CRC16 is the product of x + 1 and a trinomial, and its lowest bits hang together over ports
// in a row.
#define ECMP_SELECTOR(NAME) \
    CRCPolynomial<bit<16>>(16w0x1021, true, false, false, 16w0xffff, 16w0) NAME##_ccitt; \
    Hash<bit<16>>(HashAlgorithm_t.CUSTOM, NAME##_ccitt) NAME##_hash; \
    @name(#NAME) \
    ActionProfile(ECMP_SELECTOR_SIZE) NAME##_members; \
    @name("ecmp_selector") \
    ActionSelector(NAME##_members, NAME##_hash, SelectorMode_t.FAIR, ECMP_MAX_GROUP_SIZE, ECMP_GROUPS) NAME

// A selector's CRC of the flow is the same in every switch, and with a seed among its fields it would only
// permute the choice: CRCs are linear. So each switch adds those bits of a second CRC that its seed picks:
// another linear function of the flow in each of them. Both halves of the seed pick, since with sixteen
// bits one pair of switches in ten would still choose alike among 32 members.
control EcmpSalt(in headers_t hdr, in bit<32> seed, out bit<16> salt) {
    Hash<bit<32>>(HashAlgorithm_t.CRC32) crc;

    bit<32> bits;
    bit<16> more;

    action pick(bit<32> mask) {
        bits = bits & mask;
    }

    action split() {
        salt = bits[31:16];
        more = bits[15:0];
    }

    action add() {
        salt = salt ^ more;
    }

    apply {
        bits = crc.get({ hdr.ipv4.src_addr, hdr.ipv4.dst_addr, hdr.ipv4.protocol, hdr.l4_ports.src_port,
                         hdr.l4_ports.dst_port });
        pick(seed);
        split();
        add();
    }
}

#endif
