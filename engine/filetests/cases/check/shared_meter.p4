// A direct meter belongs to one table.
#include "../run/include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    direct_meter<bit<8>>(MeterType.packets) rates;
    action note() {
        rates.read(meta.x);
    }
    table one {
        key = { hdr.data.a: exact; }
        actions = { note; }
        meters = rates;
    }
    table other {
        key = { hdr.data.b: exact; }
        actions = { note; }
        meters = rates; //~ ERROR this direct meter already belongs to another table
    }
    apply {
        one.apply();
        other.apply();
    }
}

#include "../run/include/pipe.p4"
