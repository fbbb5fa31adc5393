// Tofino's rules for conditions in actions and for the conditional operator, each beside what the chip takes.
#include "include/pipe.p4"

control I(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t intr,
          in ingress_intrinsic_metadata_from_parser_t prsr, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
          inout ingress_intrinsic_metadata_for_tm_t tm) {
    Counter<bit<32>, bit<8>>(256, CounterType_t.PACKETS) seen;
    action of_field() {
        if (hdr.data.b == 1) { //~ ERROR a `bool` parameter, or one `!= 0` (rule `action-condition`)
            hdr.data.a = 1;
        }
    }
    action of_number(bit<8> given) {
        if (given == 1) { //~ ERROR rule `action-condition`
            hdr.data.a = 2;
        }
        if (given != 0) {
            hdr.data.b = 2;
        }
    }
    action of_flag(bool given, bool other, bit<8> value) {
        if (given) {
            hdr.data.a = value;
        } else {
            hdr.data.a = hdr.data.b;
        }
        if (!given) { //~ ERROR rule `action-condition`
            hdr.data.b = value;
        }
        if (given && other) { //~ ERROR rule `action-condition`
            hdr.data.b = value;
        }
    }
    action too_much(bool given) {
        if (given) {
            hdr.data.a = hdr.data.b; //~ ERROR can set a field by a flag only to action data or a constant, and otherwise to a field or not at all (rule `action-condition`)
        }
        if (given) {
            hdr.data.b = 1;
        } else {
            hdr.data.b = 2; //~ ERROR otherwise to a field or not at all
        }
        if (given) {
            hdr.data.d = hdr.data.d + 1; //~ ERROR rule `action-condition`
        }
        if (given) {
            seen.count(hdr.data.a); //~ ERROR calls the externs of an action unconditionally (rule `action-condition`)
        }
    }
    action operators(bool given, bit<8> value) {
        hdr.data.a = given ? value : hdr.data.a;
        hdr.data.b = given ? 8w3 : hdr.data.a;
        hdr.data.c[7:0] = given ? 8w3 : 8w4; //~ ERROR and a field if it is not (rule `conditional-operator`)
        hdr.data.d[7:0] = given ? hdr.data.a : hdr.data.b; //~ ERROR rule `conditional-operator`
    }
    action least() {
        hdr.data.d = hdr.data.d < hdr.data.e ? hdr.data.d : hdr.data.e;
        if (hdr.data.e > hdr.data.d) {
            hdr.data.e = hdr.data.d;
        }
    }
    action by_field() {
        hdr.data.a = hdr.data.b == 1 ? hdr.data.a : 8w0; //~ ERROR on a flag of the action data (rule `conditional-operator`)
    }
    action set(in bit<32> value) {
        hdr.data.d = value;
    }
    table t {
        key = { hdr.data.a: exact; }
        actions = { of_number; of_flag; too_much; operators; NoAction; }
        const default_action = NoAction;
    }
    apply {
        of_field();
        least();
        by_field();
        t.apply();
        hdr.data.e = hdr.data.d >= hdr.data.e ? hdr.data.d : hdr.data.e;
        set(hdr.data.b == 1 ? hdr.data.d : hdr.data.e); //~ ERROR rule `conditional-operator`
        bool is_three = hdr.data.d == 3;
        if (is_three) {
            hdr.data.a = 1;
        }
    }
}

Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
