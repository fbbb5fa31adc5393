#include "../../controls/load_meter.p4"
