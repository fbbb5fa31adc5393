#include "../../adaptors/tna_parser.p4"
