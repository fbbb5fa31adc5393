// What the cases of TNA share.
#include <core.p4>
#include <tna.p4>

header data_t {
    bit<8> a;
    bit<8> b;
    bit<16> c;
}
