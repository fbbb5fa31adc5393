// What the control plane cannot give, an action of a table that runs cannot take.
#include "../run/include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    action take(data_h of) { //~ ERROR cannot have type `data_h`
        hdr.data.a = of.a;
    }
    table t {
        key = { hdr.data.a : exact; }
        actions = {
            take;
        }
        default_action = take({ ... });
    }
    apply {
        t.apply();
    }
}

#include "../run/include/pipe.p4"
