// Methods that an extern leaves to its instances.
#include "../run/include/v1.p4"

extern Sums<T> {
    Sums();
    abstract T step(in T x);
    T total();
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    Sums<bit<8>>() missing; //~ ERROR method `step` is not implemented
    Sums<bit<8>>() other = { //~ ERROR method `step` is not implemented
        bit<8> stop(in bit<8> x) { return x; } //~ ERROR there is no abstract method `stop`
    };
    Sums<bit<8>>() wrong = {
        bit<8> step(in bit<16> x) { return 1; } //~ ERROR `step` differs from its declaration
    };
    Sums<bit<8>>() bad_body = {
        bit<8> step(in bit<8> x) { return x + true; } //~ ERROR `+` cannot be applied to
    };
    Sums<bit<8>>() fine = {
        bit<8> step(in bit<8> x) { return x + 1; }
    };
    apply { }
}
