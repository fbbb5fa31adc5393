"""finsy's, under the name of generated code."""

import sys

from finsy.proto.p4.config.v1 import p4info_pb2

sys.modules[__name__] = p4info_pb2
