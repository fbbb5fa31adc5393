#include "../../controls/dualpi2.p4"
