// Instances and constructors.
#include "../run/include/v1.p4"

control Inner(inout bit<8> x)(bit<8> by) {
    apply { x = x + by; }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    Inner() a; //~ ERROR `Inner` takes 1 argument, but 0 are given
    Inner(hdr.data.a) b; //~ ERROR must be a compile-time constant
    register(8) r; //~ ERROR type arguments of `register` are missing
    counter(8, CounterType.packts) c; //~ ERROR has no member `packts`
    Outer(1) o; //~ ERROR type `Outer` is not declared
    data_h(1) h; //~ ERROR `data_h` has no constructor
    apply { }
}
