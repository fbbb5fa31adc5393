// What is wrong in a source without main is told first.
#include <v1model.p4>

control half(inout bit<8> x) {
    apply { x = true; } //~ ERROR expected `bit<8>`, found `bool`
}
