// Tofino's rules for arithmetic, each beside what the chip takes.
#include "include/pipe.p4"

control I(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t intr,
          in ingress_intrinsic_metadata_from_parser_t prsr, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
          inout ingress_intrinsic_metadata_for_tm_t tm) {
    action multiply() {
        hdr.data.d = hdr.data.d * hdr.data.e; //~ ERROR multiplies by powers of two only (rule `multiplication`)
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
        hdr.data.d = hdr.data.d << hdr.data.a; //~ ERROR shifts by constants only (rule `shift`)
    }
    action shift_given(bit<8> by) {
        hdr.data.d = hdr.data.d >> by; //~ ERROR rule `shift`
    }
    action shift_constant() {
        hdr.data.d = hdr.data.d >> 3;
    }
    action saturate() {
        meta.depth = meta.depth |-| 7; //~ ERROR saturates numbers of 8, 16 and 32 bits only (rule `saturation`)
        hdr.data.d = hdr.data.d |-| hdr.data.e;
    }
    action choose() {
        hdr.data.a = hdr.data.b == 1 ? hdr.data.a : 8w0; //~ ERROR rule `conditional-operator`
    }
    action test(bit<8> given) {
        if (hdr.data.b == 1) { //~ ERROR rule `action-condition`
            hdr.data.a = 1;
        }
        if (given == 1) {
            hdr.data.a = 2;
        }
    }
    table t {
        key = { hdr.data.a: exact; }
        actions = { shift_given; test; NoAction; }
        const default_action = NoAction;
    }
    apply {
        if (hdr.data.d < hdr.data.e) { //~ ERROR orders no two values of which none is a constant (rule `comparison`)
            multiply();
        }
        if (hdr.data.d >= 8) {
            triple();
        }
        if (hdr.data.d == hdr.data.e) {
            twice();
        }
        divide();
        remainder();
        shift();
        shift_constant();
        saturate();
        choose();
        t.apply();
    }
}

Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
