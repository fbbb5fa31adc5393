"""Calls of BMv2's replication engine."""

from bm_runtime.api import client
from bm_runtime.simple_pre.ttypes import *
from bm_runtime.simple_pre.ttypes import TYPES

Client = client(
    """
call bm_mc_mgrp_create:i32 cxt_id:i32 mgrp:i32 !InvalidMcOperation
call bm_mc_mgrp_destroy:void cxt_id:i32 mgrp_handle:i32 !InvalidMcOperation
call bm_mc_node_create:i32 cxt_id:i32 rid:i32 port_map:string !InvalidMcOperation
call bm_mc_node_associate:void cxt_id:i32 mgrp_handle:i32 l1_handle:i32 !InvalidMcOperation
call bm_mc_node_dissociate:void cxt_id:i32 mgrp_handle:i32 l1_handle:i32 !InvalidMcOperation
call bm_mc_node_destroy:void cxt_id:i32 l1_handle:i32 !InvalidMcOperation
call bm_mc_node_update:void cxt_id:i32 l1_handle:i32 port_map:string !InvalidMcOperation
call bm_mc_get_entries:string cxt_id:i32 !InvalidMcOperation
""",
    TYPES,
)
