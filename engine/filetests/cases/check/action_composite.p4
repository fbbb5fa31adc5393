// What the control plane cannot give, a table's action cannot take.
#include <core.p4>

header data_t {
    bit<8> a;
}

control c(inout data_t data) {
    action take(data_t of) {
        data.a = of.a;
    }
    table t {
        key = { data.a : exact; }
        actions = {
            take; //~ ERROR cannot have type `data_t`
        }
    }
    apply {
        t.apply();
    }
}
