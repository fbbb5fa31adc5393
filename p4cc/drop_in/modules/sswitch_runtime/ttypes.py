"""Types of simple_switch's service."""

from bm_runtime.api import types

TYPES = types("""
struct MirroringSessionConfig port:i32 mgid:i32
enum MirroringOperationErrorCode SESSION_NOT_FOUND
exception InvalidMirroringOperation code:i32
""")
globals().update(TYPES)
__all__ = list(TYPES)
