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
    Register<bit<24>, bit<8>>(256) odd; //~ ERROR registers of 8, 16 or 32 bits, of pairs of these, and of single bits (rule `register-width`)
    Register<three_t, bit<8>>(256) three; //~ ERROR rule `register-width`
    Register<pair_t, bit<8>>(256) pair;
    Register<bit<1>, bit<8>>(256) flag;
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
    apply {
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
        if (hdr.data.c == 3) {
            exit;
        }
        hdr.data.e = look.execute(0); //~ ERROR lets a packet access a register once, and this may be the second time for `sum` (rule `register-access`)
    }
}

Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
