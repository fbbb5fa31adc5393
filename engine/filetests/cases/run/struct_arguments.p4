// Structs as constructor arguments; their fields are compile-time values.
// packet 0 0000 0000 00000000
// expect 1 0702 0001 00000000
// expect_register I.inner.cells 2 9
#include "include/v1.p4"

struct limits_t {
    bit<8> low;
    bit<8> high;
}

struct setup_t {
    limits_t limits;
    bit<32>  size;
    bool     marks;
}

control Inner(inout data_h data)(setup_t setup) {
    register<bit<8>>(setup.size) cells;
    apply {
        data.a = setup.limits.high;
        data.b = setup.limits.low;
        if (setup.marks) {
            data.c = 1;
        }
        cells.write(setup.size - 1, 9);
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    Inner({ { 2, 7 }, 3, true }) inner;
    apply {
        sm.egress_spec = 1;
        inner.apply(hdr.data);
    }
}

#include "include/pipe.p4"
