#include "../../controls/d3.p4"
