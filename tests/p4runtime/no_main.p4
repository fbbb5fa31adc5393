// Declarations without `main`: P4Info holds the headers of the controller, and neither a package nor a table.
#include <core.p4>
#include <v1model.p4>

type bit<9> port_t;

@controller_header("packet_in")
header from_switch_h {
    port_t port;
    bit<7> pad;
}

control half(inout bit<8> x) {
    action add(bit<8> n) {
        x = x + n;
    }
    table t {
        key = {
            x: exact;
        }
        actions = {
            add;
        }
    }
    apply {
        t.apply();
    }
}
