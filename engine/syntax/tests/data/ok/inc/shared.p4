#ifndef SHARED
#define SHARED
const int shared = 1;
#include "deeper.p4"
#endif
