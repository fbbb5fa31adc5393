"""finsy's, under the name of generated code."""

import sys

from finsy.proto.google.rpc import code_pb2

sys.modules[__name__] = code_pb2
