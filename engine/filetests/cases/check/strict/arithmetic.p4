// Tofino's rules for arithmetic, each beside what the chip takes.
#include "include/pipe.p4"

header odd_h {
    bit<4> pad;
    bit<12> number;
}

// Nobody calls it.
bit<32> product(in bit<32> a, in bit<32> b) {
    return a * b;
}

control I(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t intr,
          in ingress_intrinsic_metadata_from_parser_t prsr, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
          inout ingress_intrinsic_metadata_for_tm_t tm) {
    odd_h odd;
    action multiply() {
        hdr.data.d = hdr.data.d * hdr.data.e; //~ ERROR multiplies only by powers of two (rule `multiplication`)
    }
    action triple() {
        hdr.data.d = hdr.data.d * 3; //~ ERROR rule `multiplication`
    }
    action twice() {
        hdr.data.d = hdr.data.d * 2;
    }
    action divide() {
        hdr.data.d = hdr.data.d / 3; //~ ERROR rule `division`
    }
    action remainder() {
        hdr.data.d = hdr.data.d % 6; //~ ERROR rule `division`
    }
    action shift() {
        hdr.data.d = hdr.data.d << hdr.data.a; //~ ERROR shifts only by constants (rule `shift`)
    }
    action shift_given(bit<8> by) {
        hdr.data.d = hdr.data.d >> by; //~ ERROR rule `shift`
    }
    action shift_constant() {
        hdr.data.d = hdr.data.d >> 3;
    }
    action saturate() {
        hdr.data.d = hdr.data.d |-| hdr.data.e;
        // What is no header's field has a container of its own.
        meta.depth = meta.depth |-| 7;
        meta.depth = meta.depth |-| (bit<19>) hdr.data.d;
        odd.number = odd.number |+| 7; //~ ERROR in header fields only those of 8, 16 or 32 bits (rule `saturation`)
        bit<48> wide = (bit<48>) hdr.data.d;
        wide = wide |+| 7; //~ ERROR saturates numbers of at most 32 bits
        hdr.data.c = (bit<16>) wide;
    }
    table t {
        key = { hdr.data.a: exact; }
        actions = { shift_given; NoAction; }
        const default_action = NoAction;
    }
    apply {
        if (hdr.data.d < hdr.data.e) { //~ ERROR cannot order two values if neither is a constant (rule `comparison`)
            multiply();
        }
        if (hdr.data.d >= 8) {
            triple();
        }
        // A bound that is a power of two takes no range; other bounds have 12 bits.
        if (hdr.data.d > 65535 && hdr.data.d < 0x30000000 || hdr.data.a < 100) {
            triple();
        }
        if (hdr.data.c < 100) { //~ ERROR wider ones only by powers of two (rule `comparison`)
            triple();
        }
        if (1000 < hdr.data.d) { //~ ERROR rule `comparison`
            triple();
        }
        if (hdr.data.d == hdr.data.e) {
            twice();
        }
        divide();
        remainder();
        shift();
        shift_constant();
        odd.setValid();
        odd.number = hdr.data.c[11:0];
        saturate();
        hdr.data.c[11:0] = odd.number;
        t.apply();
    }
}

Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
