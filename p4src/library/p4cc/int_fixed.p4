#include "../../controls/int_fixed.p4"
