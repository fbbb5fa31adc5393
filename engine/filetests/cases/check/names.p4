// Names: undeclared, declared twice, used before the declaration.
#include "../run/include/v1.p4"

struct twice_t { bit<8> a; bit<8> a; } //~ ERROR field `a` is declared twice
typedef bit<8> data_h; //~ ERROR `data_h` is already declared

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    bit<8> counter; //~ WARN `counter` shadows another `counter`
    bit<8> counter; //~ ERROR `counter` is already declared
    action set(bit<8> v, bit<8> v) { } //~ ERROR parameter `v` is declared twice
    //~^ ERROR `v` is already declared
    apply {
        countr = 1; //~ ERROR name `countr` is not declared
        hdr.dta.a = 1; //~ ERROR `headers_t` has no member `dta`
        later(); //~ ERROR `later` is not declared
        bytes_t x; //~ ERROR type `bytes_t` is not declared
    }
}

action later() { }
