#include "../../controls/rcp.p4"
