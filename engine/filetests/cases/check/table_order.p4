// Order and combination of table properties.
#include <core.p4>

control c(inout bit<8> x) {
    action a() { }
    action b(bit<8> y) {
        x = y;
    }
    table default_first {
        key = { x : exact; }
        default_action = a; //~ ERROR precedes its `actions`
        actions = { a; b; }
    }
    table entries_first {
        const entries = { 1 : b(2); } //~ ERROR precedes its `key`
        //~^ ERROR precedes its `actions`
        key = { x : exact; }
        actions = { b; }
    }
    table keyless { //~ ERROR has entries but no key
        actions = { a; }
        const entries = { _ : a; }
    }
    table ranked {
        key = { x : ternary; }
        actions = { a; }
        const entries = {
            priority = 3: 1 : a; //~ ERROR cannot have priorities
        }
    }
    apply {
        default_first.apply();
        entries_first.apply();
        keyless.apply();
        ranked.apply();
    }
}
