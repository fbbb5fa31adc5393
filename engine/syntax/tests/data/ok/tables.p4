// Table properties and entries.
struct S { bit<8> key; bit<8> actions; }
control C(inout S s) {
    action a() {}
    action b(inout bit<8> x, bit<8> y) { x = y; }
    action priority() {}
    table empty { actions = {} }
    @hidden table t {
        key = { s.key: exact; s.key & 3: ternary @name("masked") @format(HEX); (s.actions == 1): exact; }
        actions = { a; .NoAction; @tableonly b(s.key); priority; }
        const default_action = b(s.key, 1);
        const entries = {
            (1, 2, true): a();
            (1 &&& 3, _, default): b(s.key, 2) @note("x");
            (1 .. 3, 4, _): priority;
        }
        size = 128;
        implementation = selector(HashAlgorithm.crc16, 32w10, 32w4);
        @psa idle = {1, 2};
    }
    table prioritized {
        key = { s.key: ternary; }
        actions = { a; priority; }
        largest_priority_wins = false;
        entries = {
            const priority = 10: 1: a;
            priority = (1 + 2): 2 &&& 3: a;
            const 5: a;
            _: priority;
        }
    }
    apply { if (t.apply().hit) { prioritized.apply(); } }
}
