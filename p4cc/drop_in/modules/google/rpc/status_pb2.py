"""finsy's, under the name of generated code."""

import sys

from finsy.proto.google.rpc import status_pb2

sys.modules[__name__] = status_pb2
