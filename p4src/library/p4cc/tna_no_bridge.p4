#include "../../adaptors/tna_no_bridge.p4"
