#include "../../controls/ecn_red_steps.p4"
