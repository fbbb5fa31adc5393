// A package of its own by the name of v1model's is not that of v1model.
#include <core.p4>

control C(inout bit<8> x) {
    apply { }
}

control Only(inout bit<8> x);
package V1Switch(Only only);

V1Switch(C()) main; //~ WARN package `V1Switch` of the program's own is not supported: it was checked
