// A file of an architecture that is known but not supported.
#include <core.p4>
#include <pna.p4> //~ ERROR included file `pna.p4` not found: it declares PNA, the architecture of network interface cards, which is not supported
#include "t3na.p4" //~ ERROR it declares T3NA, the architecture of Tofino 3, which is not supported
#include <nowhere.p4> //~ ERROR included file `nowhere.p4` not found

control C() {
    apply { }
}
