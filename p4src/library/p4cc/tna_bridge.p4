#include "../../adaptors/tna_bridge.p4"
