#include "../../controls/capacity_estimate.p4"
