// What most cases share: one header of eight bytes, its parser, and the parts of the pipeline that do nothing.
// A case defines OWN_TYPES, OWN_PARSER, OWN_EGRESS or OWN_DEPARSER before including this to bring its own part, and
// declares `control I` with the parameters of ingress.

#include <core.p4>
#include <v1model.p4>

header data_h {
    bit<8>  a;
    bit<8>  b;
    bit<16> c;
    bit<32> d;
}

#ifndef OWN_TYPES
struct headers_t {
    data_h data;
}

struct metadata_t {
    bit<8>  x;
    bit<16> y;
}
#endif
