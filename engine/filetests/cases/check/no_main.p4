// A program without main and without an architecture; the place is the last declaration.
#include <core.p4>

header data_h { bit<8> a; } //~ ERROR the program has no `main`
