#include "../../adaptors/tna_spray.p4"
