// Bounds of types: each names its limit.
#include "../run/include/v1.p4"

header long_h {
    varbit<524281> a; //~ ERROR the width of a varbit is 524281; it must lie in 0 to 524280
}

header wide_h {
    bit<2049> a; //~ ERROR the width is 2049; it must lie in 0 to 2048
}

struct stacks_t {
    data_h[32769] all; //~ ERROR the size of a header stack is 32769; it must lie in 1 to 32768
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply { }
}

#include "../run/include/pipe.p4"
