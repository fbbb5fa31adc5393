"""finsy's, under the name of generated code."""

import sys

from finsy.proto.p4.v1 import p4runtime_pb2

sys.modules[__name__] = p4runtime_pb2
