// TNA: registers of entries, first values of structs, registers in turn, predicates, math units.
// add I.direct 1 => I.step()
// add I.direct 2 => I.step()
// Each entry has a cell of its own, which starts as the program says; the last value is given back.
// packet 0 01 01 00000000
// expect 1 01 01 00000007
// packet 0 01 01 00000000
// expect 1 01 01 0000006b
// packet 0 01 02 00000000
// expect 1 01 02 00000007
// expect_direct_register I.direct 1 => 0x00000007000000cf
// expect_direct_register I.direct 2 => 0x000000060000006b
// A packet that no entry matches has the default entry's cell.
// packet 0 01 03 00000000
// expect 1 01 03 00000007
// expect_direct_register I.direct => 0x000000060000006b
// set_direct_register I.direct 1 => 0x00000000ffffffff
// A sum that would not fit stays at the largest number.
// packet 0 01 01 00000000
// expect 1 01 01 ffffffff
// expect_direct_register I.direct 1 => 0x00000001ffffffff
// First values of a register of structs.
// expect_register I.pairs 2 0x00000005fffffffe
// packet 0 02 02 00000000
// expect 1 02 02 fffffffe
// expect_register I.pairs 2 0x00000006fffffffe
// One bit, inverted.
// packet 0 03 00 00000000
// expect 1 03 00 00000000
// In turn: cells 0, 1, 2, and 0 again.
// packet 0 04 00 00000011
// expect 1 04 00 00000000
// packet 0 04 00 00000022
// expect 1 04 00 00000000
// packet 0 04 00 00000033
// expect 1 04 00 00000000
// packet 0 04 00 00000044
// expect 1 04 00 00000011
// expect_register I.log 0 0x44
// expect_register I.log 1 0x22
// expect_register I.log 2 0x33
// Predicates: bit 0 for neither, 1 for the first, 2 for the second, 3 for both.
// packet 0 05 00 00000003
// expect 1 05 00 00000001
// packet 0 05 00 0000000a
// expect 1 05 00 00000002
// packet 0 05 05 00000003
// expect 1 05 05 00000004
// packet 0 05 05 0000000a
// expect 1 05 05 00000008
// Three quarters of 1,000 by four bits of mantissa: 960 * 3 / 4.
// packet 0 06 00 000003e8
// expect 1 06 00 000002d0
// The square of 12; the root of 144, of which four bits are 128.
// packet 0 07 00 0000000c
// expect 1 07 00 00000090
// packet 0 08 00 00000090
// expect 1 08 00 0000000b
// A reciprocal by a table of the program's own: 1024 / 4.
// packet 0 09 00 00000004
// expect 1 09 00 00000100
// An action sees a cell of 32 bits as eight: the others are zero afterwards.
// register I.log 2 0x1ff
// packet 0 0a 02 00000000
// expect 1 0a 02 00000000
// expect_register I.log 2 0
// An entry that is deleted and comes back starts anew, and a hit by another action leaves the cell.
// add I.direct 7 => NoAction()
// packet 0 01 07 00000000
// expect 1 01 07 00000000
// expect_direct_register I.direct 7 => 0x0000000500000007
#include "include/tna_head.p4"

struct pair {
    bit<32> first;
    bit<32> second;
}

control I(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t intr,
          in ingress_intrinsic_metadata_from_parser_t prsr, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
          inout ingress_intrinsic_metadata_for_tm_t tm) {
    DirectRegister<pair>({5, 7}) cells;
    DirectRegisterAction<pair, bit<32>>(cells) each = {
        void apply(inout pair value, out bit<32> before) {
            before = value.second;
            value.first = value.first + 1;
            value.second = value.second |+| 100;
        }
    };
    action step() {
        hdr.data.c = each.execute();
    }
    table direct {
        key = { hdr.data.b: exact; }
        actions = { step; NoAction; }
        default_action = step();
        registers = cells;
        size = 16;
    }
    Register<pair, bit<8>>(size = 4, initial_value = {5, 32w0xfffffffe}) pairs;
    RegisterAction<pair, bit<8>, bit<32>>(pairs) first = {
        void apply(inout pair value, out bit<32> rv) {
            value.first = value.first + 1;
            rv = value.second;
        }
    };
    Register<bit<1>, bit<8>>(4, 1) bits;
    RegisterAction<bit<1>, bit<8>, bit<1>>(bits) inverse = {
        void apply(inout bit<1> value, out bit<1> rv) {
            rv = ~value;
        }
    };
    Register<bit<32>, bit<8>>(3) log;
    RegisterAction<bit<32>, bit<8>, bit<32>>(log) note = {
        void apply(inout bit<32> value, out bit<32> rv) {
            rv = value;
            value = hdr.data.c;
        }
    };
    RegisterAction<bit<8>, bit<8>, void>(log) next = {
        void apply(inout bit<8> value) {
            value = value + 1;
        }
    };
    Register<bit<32>, bit<8>>(1) compared;
    RegisterAction<bit<32>, bit<8>, bit<8>>(compared) which = {
        void apply(inout bit<32> value, out bit<8> rv) {
            rv = this.predicate(hdr.data.c > 5, hdr.data.b == 5);
        }
    };
    MathUnit<bit<32>>(MathOp_t.MUL, 3, 4) quarters;
    MathUnit<bit<32>>(MathOp_t.SQR, 1) square;
    MathUnit<bit<32>>(MathOp_t.SQRT, 1) root;
    MathUnit<bit<32>>(true, 0, 3, {68, 73, 78, 85, 93, 102, 113, 128, 0, 0, 0, 0, 0, 0, 0, 0}) reciprocal;
    Register<bit<32>, bit<8>>(1) results;
    RegisterAction<bit<32>, bit<8>, bit<32>>(results) by_quarters = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = quarters.execute(hdr.data.c);
            rv = value;
        }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(results) by_square = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = square.execute(hdr.data.c);
            rv = value;
        }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(results) by_root = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = root.execute(hdr.data.c);
            rv = value;
        }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(results) by_reciprocal = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = reciprocal.execute(hdr.data.c);
            rv = value;
        }
    };
    apply {
        tm.ucast_egress_port = 1;
        tm.bypass_egress = 1;
        if (hdr.data.a == 1) {
            direct.apply();
        } else if (hdr.data.a == 2) {
            hdr.data.c = first.execute(hdr.data.b);
        } else if (hdr.data.a == 3) {
            hdr.data.c = 31w0 ++ inverse.execute(hdr.data.b);
        } else if (hdr.data.a == 4) {
            hdr.data.c = note.execute_log();
        } else if (hdr.data.a == 5) {
            hdr.data.c = 24w0 ++ which.execute(0);
        } else if (hdr.data.a == 6) {
            hdr.data.c = by_quarters.execute(0);
        } else if (hdr.data.a == 7) {
            hdr.data.c = by_square.execute(0);
        } else if (hdr.data.a == 8) {
            hdr.data.c = by_root.execute(0);
        } else if (hdr.data.a == 9) {
            hdr.data.c = by_reciprocal.execute(0);
        } else if (hdr.data.a == 0xa) {
            next.execute(hdr.data.b);
        }
    }
}

#include "include/tna_tail.p4"
