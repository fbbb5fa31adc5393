#include "../../controls/int_hpcc.p4"
