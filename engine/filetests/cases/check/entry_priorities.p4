// Priorities of entries.
#include <core.p4>

control c(inout bit<8> x, inout bit<8> y) {
    action a(bit<8> v) {
        x = v;
    }
    table exact_key {
        key = { x : exact; }
        actions = { a; }
        entries = {
            priority = 3: 1 : a(1); //~ ERROR cannot have priorities
        }
    }
    table first_without {
        key = { x : ternary; }
        actions = { a; }
        entries = {
            1 : a(1); //~ ERROR the first entry needs a priority
            priority = 3: 2 : a(1);
        }
    }
    table runs_out { //~ ERROR would be -5
        key = { x : ternary; }
        actions = { a; }
        priority_delta = 10;
        entries = {
            priority = 5: 1 : a(1);
            2 : a(1);
        }
    }
    table in_doubt {
        key = { x : ternary; }
        actions = { a; }
        entries = {
            priority = 5: 1 : a(1);
            priority = 7: 2 : a(1); //~ WARN priority 7 takes precedence over 5
            priority = 7: 3 : a(1); //~ WARN two entries have the priority 7
        }
    }
    table from_the_smallest {
        key = { x : ternary; }
        actions = { a; }
        largest_priority_wins = false;
        entries = {
            priority = 5: 1 : a(1);
            priority = 7: 2 : a(1);
            3 : a(1);
        }
    }
    apply {
        exact_key.apply();
        first_without.apply();
        runs_out.apply();
        in_doubt.apply();
        from_the_smallest.apply();
    }
}

control twice(inout bit<8> x, inout bit<8> y) {
    action a(bit<8> v) {
        x = v;
    }
    table exact_keys {
        key = { x : exact; y : exact; }
        actions = { a; }
        const entries = {
            (1, 2) : a(1);
            (2, 1) : a(1);
            (0x1, 8w2) : a(2); //~ ERROR another entry matches exactly the same values
        }
    }
    table masked {
        key = { x : ternary; }
        actions = { a; }
        const entries = {
            1 &&& 3 : a(1);
            1 &&& 7 : a(1);
            1 &&& 3 : a(2); //~ WARN this entry never matches
            _ : a(3);
        }
    }
    apply {
        exact_keys.apply();
        masked.apply();
    }
}
