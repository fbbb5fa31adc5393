#include "../../controls/rcp_stamp.p4"
