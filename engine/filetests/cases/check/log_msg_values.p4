// Values that a format has no place for are not logged: a warning.
#include "../run/include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        log_msg("one {}", { hdr.data.a, hdr.data.b }); //~ WARN the format has 1 `{}`, fewer than the 2 values of the call
        log_msg("both {} {}", { hdr.data.a, { hdr.data.b, hdr.data.c } });
    }
}

#include "../run/include/pipe.p4"
