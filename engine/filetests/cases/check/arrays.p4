// What arrays are not.
#include "../run/include/v1.p4"

struct arrays_t {
    packet_in[4] packets; //~ ERROR an array cannot hold values of type `packet_in`
    data_h[2][3] stacks; //~ ERROR an array cannot hold values of type `data_h[2]`
    bit<8>[0]    none; //~ ERROR the size of an array is 0; it must lie in 1 to 32768
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        bit<8>[4] a = { 1, 2, 3, 4 };
        bit<8>[3] b = { 1, 2, 3, 4 }; //~ ERROR `bit<8>[3]` has 3 members, but 4 are given
        a[4] = 1; //~ ERROR index 4 is outside the array of 4
        a.push_front(1); //~ ERROR `bit<8>[4]` has no method `push_front`
        a = b; //~ ERROR expected `bit<8>[4]`, found `bit<8>[3]`
        hdr.data.a = a.next; //~ ERROR `next` can be used only on header stacks
    }
}

#include "../run/include/pipe.p4"
