// Digests of scalars, enums, errors, structs in structs and headers: a header says first whether it is valid.
// packet 0 0102 0304 05060708
// expect 1 0102 0304 05060708
// expect_digest digest_0 0x01
// expect_digest kind_t 1
// expect_digest small_kind_t 7
// expect_digest error 2
// expect_digest address_t 0x0304
// expect_digest outer_t 0x02 0x01 1 0x0304 1
// expect_digest data_h 1 0x01 0x02 0x0304 0x05060708
// expect_digest two_t 0 1 2 0x0304 0x05060708 0x04
#include "include/v1.p4"

enum kind_t { FIRST, SECOND }
enum bit<8> small_kind_t { SEVEN = 7 }
type bit<16> address_t;

struct inner_t {
    bit<8> a;
    bool   b;
}

struct outer_t {
    bit<8>                     z;
    inner_t                    inner;
    tuple<address_t, kind_t>   last;
}

struct two_t {
    data_h data;
    bit<8> x;
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        digest(1, hdr.data.a);
        digest(1, kind_t.SECOND);
        digest(1, small_kind_t.SEVEN);
        digest(1, error.NoMatch);
        digest(1, (address_t) hdr.data.c);
        digest<outer_t>(1, { hdr.data.b, { hdr.data.a, true }, { (address_t) hdr.data.c, kind_t.SECOND } });
        digest(1, hdr.data);
        two_t two;
        two.data = hdr.data;
        two.data.setInvalid();
        two.x = hdr.data.c[7:0];
        digest(1, two);
    }
}

#include "include/pipe.p4"
