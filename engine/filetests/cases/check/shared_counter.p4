// A direct counter belongs to one table.
#include "../run/include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    direct_counter(CounterType.packets) hits;
    table one {
        key = { hdr.data.a: exact; }
        actions = { NoAction; }
        counters = hits;
    }
    table other {
        key = { hdr.data.b: exact; }
        actions = { NoAction; }
        counters = hits; //~ ERROR this direct counter already belongs to another table
    }
    apply {
        one.apply();
        other.apply();
    }
}

#include "../run/include/pipe.p4"
