// A type that does not exist is told once: nothing follows from it.
#include "../run/include/v1.p4"

struct other_t {
    nowhere_t n; //~ ERROR type `nowhere_t` is not declared
    bit<8>    x;
}

void take<T>(in T x, in T y) { }

control Inner<T>(inout T x) {
    apply { }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    other_t other;
    missing_t lost; //~ ERROR type `missing_t` is not declared
    register<absent_t>(4) cells; //~ ERROR type `absent_t` is not declared
    apply {
        take(lost, lost);
        take(other.n, other.n);
        absent2_t here; //~ ERROR type `absent2_t` is not declared
        cells.read(here, 0);
        random(lost, 0, 1);
        digest(1, lost);
        hash(hdr.data.a, HashAlgorithm.crc16, 16w0, { lost }, 16w8);
        lost = take2(); //~ ERROR function or action `take2` is not declared
    }
}

control E2(inout headers_t hdr, inout wrong_t meta, inout standard_metadata_t sm) { //~ ERROR type `wrong_t` is not declared
    apply { }
}

#define OWN_EGRESS
#define E E2
#include "../run/include/pipe.p4"
