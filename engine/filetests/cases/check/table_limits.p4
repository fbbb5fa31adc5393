// A table has one prefix, and a direct counter or meter has one table.
#include "../run/include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    table prefixes {
        key = {
            hdr.data.a: lpm;
            hdr.data.b: lpm; //~ ERROR has a second lpm key
        }
        actions = { NoAction; }
    }
    apply {
        prefixes.apply();
    }
}

#include "../run/include/pipe.p4"
