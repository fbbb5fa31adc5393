// The parts of a PSA program that a case does not write itself. A case defines headers_t with `data`, the controls I
// and E, and the metadata types that differ from nothing at all.
#include <psa.p4>

header data_h {
    bit<8>  a;
    bit<8>  b;
    bit<16> c;
}

struct headers_t {
    data_h data;
}

struct none_t { }
