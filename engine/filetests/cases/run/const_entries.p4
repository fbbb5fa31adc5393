// Entries of the source: order gives priority among ternary ones, the longest prefix wins among lpm ones.
// packet 0 1200 0a01 00000000
// expect 1 1201 0a01 00000002
// packet 0 1300 0a80 00000000
// expect 1 1302 0a80 00000003
// packet 0 5500 0b00 00000000
// expect 1 5503 0b00 00000001
#include "include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    action set(bit<8> value) {
        hdr.data.b = value;
    }
    action length(bit<32> value) {
        hdr.data.d = value;
    }
    table ternary_table {
        key = { hdr.data.a: ternary; }
        actions = { set; }
        const default_action = set(0);
        const entries = {
            0x12: set(1);
            0x10 &&& 0xf0: set(2);
            _: set(3);
        }
    }
    table lpm_table {
        key = { hdr.data.c: lpm; }
        actions = { length; }
        const default_action = length(0);
        const entries = {
            0x0000 &&& 0x0000: length(1);
            0x0a00 &&& 0xff00: length(2);
            0x0a80: length(3);
        }
    }
    apply {
        sm.egress_spec = 1;
        ternary_table.apply();
        lpm_table.apply();
    }
}

#include "include/pipe.p4"
