#include "../../include/transport_parser.p4"
