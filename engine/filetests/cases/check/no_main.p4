// A program without main and without an architecture; the place is the last declaration.
#include <core.p4>

header data_h { bit<8> a; } //~ WARN the program has no `main`: it was checked, and no switch can run it
