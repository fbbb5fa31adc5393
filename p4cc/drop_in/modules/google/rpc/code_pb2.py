"""finsy's, under the name of generated code."""

import sys

from finsy.proto import rpc_code

sys.modules[__name__] = rpc_code
