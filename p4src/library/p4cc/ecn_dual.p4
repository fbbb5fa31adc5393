#include "../../controls/ecn_dual.p4"
