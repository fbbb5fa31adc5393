// A pipeline of the program's own is not that of the chip.
#include <core.p4>

control C(inout bit<8> x) {
    apply { }
}

control Only(inout bit<8> x);
package Pipeline(Only only);
package Switch(Pipeline pipe);

Pipeline(C()) pipe;
Switch(pipe) main; //~ WARN package `Switch` of the program's own is not supported: it was checked
