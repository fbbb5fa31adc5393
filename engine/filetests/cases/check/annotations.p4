// Annotations with a fixed form.
#include <core.p4>
#include <v1model.p4>

@p4runtime_translation("example.org/port", 32)
type bit<16> port_t;
@p4runtime_translation("example.org/name", string)
type bit<32> name_t;
@p4runtime_translation("example.org/bool", bool) //~ ERROR the controller's type
type bit<16> flag_t;
@p4runtime_translation("example.org/sum", bit<5+3>) //~ ERROR the controller's type
type bit<16> sum_t;

struct members_t {
    @match(ternary)
    bit<32> a;
    @match(nearly) //~ ERROR takes one match kind
    bit<16> b;
    @match(1 + 1) //~ ERROR takes one match kind
    bit<16> c;
}

@role("x")
@role("y")
const bit<8> told_twice = 1;
@weight[1]
@weight[2] //~ ERROR `@weight` is given twice
const bit<8> weighed_twice = 1;
@unit("x")
@unit[1] //~ ERROR `@unit` is given twice
const bit<8> both_forms = 1;
