// Tofino's rules for registers: widths, and one access on a packet's way.
#include "include/pipe.p4"

struct pair_t {
    bit<32> low;
    bit<32> high;
}

struct three_t {
    bit<8> a;
    bit<8> b;
    bit<8> c;
}

control Nested(inout headers_t hdr) {
    Register<bit<32>, bit<8>>(256) own;
    RegisterAction<bit<32>, bit<8>, bit<32>>(own) add = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value + 1;
            rv = value;
        }
    };
    apply {
        hdr.data.d = add.execute(hdr.data.a);
    }
}

control I(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t intr,
          in ingress_intrinsic_metadata_from_parser_t prsr, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
          inout ingress_intrinsic_metadata_for_tm_t tm) {
    Register<bit<24>, bit<8>>(256) odd; //~ ERROR registers of 8, 16 or 32 bits, pairs of these, `bit<1>` and `bit<64>` (rule `register-width`)
    Register<three_t, bit<8>>(256) three; //~ ERROR rule `register-width`
    Register<pair_t, bit<8>>(256) pair;
    Register<bit<1>, bit<8>>(256) flag;
    Register<bool, bit<8>>(256) truth; //~ ERROR rule `register-width`
    Register<bit<64>, bit<8>>(256) wide;
    RegisterAction<bit<64>, bit<8>, bit<64>>(wide) next = {
        void apply(inout bit<64> value) {
            value = value + 1; //~ ERROR Tofino 1 processes 32 bits of a register at once (rule `register-width`)
        }
    };
    Register<bit<32>, bit<8>>(256) busy;
    RegisterAction<bit<32>, bit<8>, bit<32>>(busy) one_more = {
        void apply(inout bit<32> value) {
            value = value + 1;
        }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(busy) two_more = {
        void apply(inout bit<32> value) {
            value = value + 2;
        }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(busy) three_more = {
        void apply(inout bit<32> value) {
            value = value + 3;
        }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(busy) four_more = {
        void apply(inout bit<32> value) {
            value = value + 4;
        }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(busy) five_more = { //~ ERROR four register actions per register, and this is the fifth (rule `register-actions`)
        void apply(inout bit<32> value) {
            value = value + 5;
        }
    };
    Register<bit<32>, bit<8>>(256) sum;
    RegisterAction<bit<32>, bit<8>, bit<32>>(sum) add = {
        void apply(inout bit<32> value, out bit<32> rv) {
            // The register's unit compares what it holds with the packet.
            if (value < hdr.data.d) {
                value = value + hdr.data.d;
            }
            rv = value;
        }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(sum) look = {
        void apply(inout bit<32> value, out bit<32> rv) {
            rv = value;
        }
    };
    Nested() one;
    Nested() other;
    action adds() {
        hdr.data.d = add.execute(hdr.data.a);
    }
    action looks() {
        hdr.data.d = look.execute(hdr.data.a);
    }
    // Actions of one table exclude each other.
    table either {
        key = { hdr.data.b: exact; }
        actions = { adds; looks; NoAction; }
        const default_action = NoAction;
    }
    Register<bit<32>, bit<8>>(256) first;
    RegisterAction<bit<32>, bit<8>, bit<32>>(first) first_add = {
        void apply(inout bit<32> value) {
            value = value + 1;
        }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(first) first_read = {
        void apply(inout bit<32> value, out bit<32> rv) {
            rv = value;
        }
    };
    action first_adds() {
        first_add.execute(0);
    }
    table first_table {
        key = { hdr.data.b: exact; }
        actions = { first_adds; NoAction; }
        const default_action = NoAction;
    }
    table ranges {
        key = { hdr.data.d: range; hdr.data.e[19:0]: range; } //~ ERROR matches ranges of at most 20 bits (rule `range-key`)
        actions = { NoAction; }
        const default_action = NoAction;
    }
    apply {
        ranges.apply();
        next.execute(hdr.data.a);
        switch (hdr.data.a) {
            1: { one_more.execute(0); }
            2: { two_more.execute(0); }
            3: { three_more.execute(0); }
            4: { four_more.execute(0); }
            default: { five_more.execute(0); }
        }
        one.apply(hdr);
        other.apply(hdr);
        if (hdr.data.c == 1) {
            adds();
        } else if (hdr.data.c == 2) {
            looks();
        } else if (either.apply().hit) {
            hdr.data.b = 1;
        } else {
            // Nothing was accessed by a miss.
            looks();
        }
        // Nor by this one: the default action is `NoAction`.
        if (!first_table.apply().hit) {
            first_read.execute(0);
        }
        if (hdr.data.c == 3) {
            exit;
        }
        hdr.data.e = look.execute(0); //~ ERROR allows one access to a register per packet, and this may be the second one to `sum` (rule `register-access`)
    }
}

Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
