#include "../../controls/forward.p4"
