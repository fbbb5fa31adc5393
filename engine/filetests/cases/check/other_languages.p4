// What P4 does not have.
#include <core.p4>

control c(inout bit<8> x) {
    apply {
        while (x < 3) { x = x + 1; }  //~ ERROR P4 has no `while` loop
        x = 1.5;  //~ ERROR `1.5` is a floating-point number, which P4 does not support
    }
}
