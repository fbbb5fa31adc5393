#include "../../adaptors/tna_transport_parser.p4"
