#include "../../controls/d3_stamp.p4"
