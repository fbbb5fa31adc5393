"""Types of BMv2's replication engine."""

from bm_runtime.api import types

TYPES = types("""
enum McOperationErrorCode TABLE_FULL INVALID_MGID INVALID_MGRP_HANDLE INVALID_L1_HANDLE ERROR
exception InvalidMcOperation code:i32
""")
globals().update(TYPES)
__all__ = list(TYPES)
