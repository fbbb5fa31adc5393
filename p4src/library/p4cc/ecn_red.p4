#include "../../controls/ecn_red.p4"
