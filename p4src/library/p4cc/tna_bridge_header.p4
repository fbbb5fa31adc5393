#include "../../adaptors/tna_bridge_header.p4"
