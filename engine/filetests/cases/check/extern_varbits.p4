// Externs take and give numbers of a fixed width.
#include "../run/include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    register<varbit<8>>(4) cells; //~ ERROR registers of varbits
    apply { }
}

#include "../run/include/pipe.p4"
