// What the architecture does not have cannot run.
#include "../run/include/v1.p4"

extern Sums<T> {
    Sums();
    abstract T step(in T x);
    T total();
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    Sums<bit<8>>() sums = { //~ ERROR v1model has no extern `Sums`
        bit<8> step(in bit<8> x) { return x + 1; }
    };
    apply {
        hdr.data.a = sums.total();
    }
}

#include "../run/include/pipe.p4"
