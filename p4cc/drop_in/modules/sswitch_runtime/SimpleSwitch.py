"""Calls of simple_switch's service."""

from bm_runtime.api import client

from sswitch_runtime.ttypes import *
from sswitch_runtime.ttypes import TYPES

Client = client(
    """
call mirroring_mapping_add:i32 mirror_id:i32 egress_port:i32
call mirroring_mapping_delete:i32 mirror_id:i32
call mirroring_mapping_get_egress_port:i32 mirror_id:i32
call mirroring_session_add:void mirror_id:i32 config:MirroringSessionConfig !InvalidMirroringOperation
call mirroring_session_delete:void mirror_id:i32 !InvalidMirroringOperation
call mirroring_session_get:MirroringSessionConfig mirror_id:i32 !InvalidMirroringOperation
call set_egress_priority_queue_depth:i32 port_num:i32 priority:i32 depth_pkts:i32
call set_egress_queue_depth:i32 port_num:i32 depth_pkts:i32
call set_all_egress_queue_depths:i32 depth_pkts:i32
call set_egress_priority_queue_rate:i32 port_num:i32 priority:i32 rate_pps:i64
call set_egress_queue_rate:i32 port_num:i32 rate_pps:i64
call set_all_egress_queue_rates:i32 rate_pps:i64
call get_time_elapsed_us:i64
call get_time_since_epoch_us:i64
""",
    TYPES,
)
