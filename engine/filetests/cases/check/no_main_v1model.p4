// Declarations for an architecture without main are a library: there is P4Info of it, but nothing to run.
#include <v1model.p4>

@controller_header("packet_in")
header from_switch_h { bit<9> port; bit<7> pad; }

control half(inout bit<8> x) { //~ WARN the program has no `main`: no switch can run it
    action add(bit<8> n) { x = x + n; }
    table t {
        key = { x: exact; }
        actions = { add; }
    }
    apply { t.apply(); }
}
