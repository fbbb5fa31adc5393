#include "../../adaptors/tna_transport.p4"
