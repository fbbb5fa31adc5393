"""Calls of BMv2's main service."""

from bm_runtime.api import client
from bm_runtime.standard.ttypes import *
from bm_runtime.standard.ttypes import TYPES

Client = client(
    """
call bm_mt_get_num_entries:i64 cxt_id:i32 table_name:string !InvalidTableOperation
call bm_mt_clear_entries:void cxt_id:i32 table_name:string reset_default_entry:bool !InvalidTableOperation
call bm_mt_add_entry:i32 cxt_id:i32 table_name:string match_key:list<BmMatchParam> action_name:string
    action_data:list<binary> options:BmAddEntryOptions !InvalidTableOperation
call bm_mt_set_default_action:void cxt_id:i32 table_name:string action_name:string action_data:list<binary>
    !InvalidTableOperation
call bm_mt_reset_default_entry:void cxt_id:i32 table_name:string !InvalidTableOperation
call bm_mt_delete_entry:void cxt_id:i32 table_name:string entry_handle:i32 !InvalidTableOperation
call bm_mt_modify_entry:void cxt_id:i32 table_name:string entry_handle:i32 action_name:string
    action_data:list<binary> !InvalidTableOperation
call bm_mt_set_entry_ttl:void cxt_id:i32 table_name:string entry_handle:i32 timeout_ms:i32
    !InvalidTableOperation
call bm_mt_act_prof_add_member:i32 cxt_id:i32 act_prof_name:string action_name:string action_data:list<binary>
    !InvalidTableOperation
call bm_mt_act_prof_delete_member:void cxt_id:i32 act_prof_name:string mbr_handle:i32 !InvalidTableOperation
call bm_mt_act_prof_modify_member:void cxt_id:i32 act_prof_name:string mbr_handle:i32 action_name:string
    action_data:list<binary> !InvalidTableOperation
call bm_mt_act_prof_create_group:i32 cxt_id:i32 act_prof_name:string !InvalidTableOperation
call bm_mt_act_prof_delete_group:void cxt_id:i32 act_prof_name:string grp_handle:i32 !InvalidTableOperation
call bm_mt_act_prof_add_member_to_group:void cxt_id:i32 act_prof_name:string mbr_handle:i32 grp_handle:i32
    !InvalidTableOperation
call bm_mt_act_prof_remove_member_from_group:void cxt_id:i32 act_prof_name:string mbr_handle:i32
    grp_handle:i32 !InvalidTableOperation
call bm_mt_act_prof_get_members:list<BmMtActProfMember> cxt_id:i32 act_prof_name:string !InvalidTableOperation
call bm_mt_act_prof_get_member:BmMtActProfMember cxt_id:i32 act_prof_name:string mbr_handle:i32
    !InvalidTableOperation
call bm_mt_act_prof_get_groups:list<BmMtActProfGroup> cxt_id:i32 act_prof_name:string !InvalidTableOperation
call bm_mt_act_prof_get_group:BmMtActProfGroup cxt_id:i32 act_prof_name:string grp_handle:i32
    !InvalidTableOperation
call bm_mt_indirect_add_entry:i32 cxt_id:i32 table_name:string match_key:list<BmMatchParam> mbr_handle:i32
    options:BmAddEntryOptions !InvalidTableOperation
call bm_mt_indirect_modify_entry:void cxt_id:i32 table_name:string entry_handle:i32 mbr_handle:i32
    !InvalidTableOperation
call bm_mt_indirect_delete_entry:void cxt_id:i32 table_name:string entry_handle:i32 !InvalidTableOperation
call bm_mt_indirect_set_entry_ttl:void cxt_id:i32 table_name:string entry_handle:i32 timeout_ms:i32
    !InvalidTableOperation
call bm_mt_indirect_set_default_member:void cxt_id:i32 table_name:string mbr_handle:i32 !InvalidTableOperation
call bm_mt_indirect_reset_default_entry:void cxt_id:i32 table_name:string !InvalidTableOperation
call bm_mt_indirect_ws_add_entry:i32 cxt_id:i32 table_name:string match_key:list<BmMatchParam> grp_handle:i32
    options:BmAddEntryOptions !InvalidTableOperation
call bm_mt_indirect_ws_modify_entry:void cxt_id:i32 table_name:string entry_handle:i32 grp_handle:i32
    !InvalidTableOperation
call bm_mt_indirect_ws_set_default_group:void cxt_id:i32 table_name:string grp_handle:i32
    !InvalidTableOperation
call bm_mt_read_counter:BmCounterValue cxt_id:i32 table_name:string entry_handle:i32 !InvalidTableOperation
call bm_mt_reset_counters:void cxt_id:i32 table_name:string !InvalidTableOperation
call bm_mt_write_counter:void cxt_id:i32 table_name:string entry_handle:i32 value:BmCounterValue
    !InvalidTableOperation
call bm_mt_set_meter_rates:void cxt_id:i32 table_name:string entry_handle:i32 rates:list<BmMeterRateConfig>
    !InvalidTableOperation
call bm_mt_get_meter_rates:list<BmMeterRateConfig> cxt_id:i32 table_name:string entry_handle:i32
    !InvalidTableOperation
call bm_mt_get_entries:list<BmMtEntry> cxt_id:i32 table_name:string !InvalidTableOperation
call bm_mt_get_entry:BmMtEntry cxt_id:i32 table_name:string entry_handle:i32 !InvalidTableOperation
call bm_mt_get_default_entry:BmActionEntry cxt_id:i32 table_name:string !InvalidTableOperation
call bm_mt_get_entry_from_key:BmMtEntry cxt_id:i32 table_name:string match_key:list<BmMatchParam>
    options:BmAddEntryOptions !InvalidTableOperation
call bm_counter_read:BmCounterValue cxt_id:i32 counter_name:string index:i32 !InvalidCounterOperation
call bm_counter_reset_all:void cxt_id:i32 counter_name:string !InvalidCounterOperation
call bm_counter_write:void cxt_id:i32 counter_name:string index:i32 value:BmCounterValue
    !InvalidCounterOperation
call bm_learning_ack:void cxt_id:i32 list_id:i32 buffer_id:i64 sample_ids:list<i32> !InvalidLearnOperation
call bm_learning_ack_buffer:void cxt_id:i32 list_id:i32 buffer_id:i64 !InvalidLearnOperation
call bm_learning_set_timeout:void cxt_id:i32 list_id:i32 timeout_ms:i32 !InvalidLearnOperation
call bm_learning_set_buffer_size:void cxt_id:i32 list_id:i32 nb_samples:i32 !InvalidLearnOperation
call bm_load_new_config:void config_str:string !InvalidSwapOperation
call bm_swap_configs:void !InvalidSwapOperation
call bm_meter_array_set_rates:void cxt_id:i32 meter_array_name:string rates:list<BmMeterRateConfig>
    !InvalidMeterOperation
call bm_meter_set_rates:void cxt_id:i32 meter_array_name:string index:i32 rates:list<BmMeterRateConfig>
    !InvalidMeterOperation
call bm_meter_get_rates:list<BmMeterRateConfig> cxt_id:i32 meter_array_name:string index:i32
    !InvalidMeterOperation
call bm_register_read:i64 cxt_id:i32 register_array_name:string idx:i32 !InvalidRegisterOperation
call bm_register_read_all:list<i64> cxt_id:i32 register_array_name:string !InvalidRegisterOperation
call bm_register_write:void cxt_id:i32 register_array_name:string index:i32 value:i64
    !InvalidRegisterOperation
call bm_register_write_range:void cxt_id:i32 register_array_name:string start_index:i32 end_index:i32
    value:i64 !InvalidRegisterOperation
call bm_register_reset:void cxt_id:i32 register_array_name:string !InvalidRegisterOperation
call bm_parse_vset_add:void cxt_id:i32 parse_vset_name:string value:binary !InvalidParseVSetOperation
call bm_parse_vset_remove:void cxt_id:i32 parse_vset_name:string value:binary !InvalidParseVSetOperation
call bm_parse_vset_get:list<binary> cxt_id:i32 parse_vset_name:string !InvalidParseVSetOperation
call bm_parse_vset_clear:void cxt_id:i32 parse_vset_name:string !InvalidParseVSetOperation
call bm_dev_mgr_add_port:void iface_name:string port_num:i32 pcap_path:string !InvalidDevMgrOperation
call bm_dev_mgr_remove_port:void port_num:i32 !InvalidDevMgrOperation
call bm_dev_mgr_show_ports:list<DevMgrPortInfo> !InvalidDevMgrOperation
call bm_mgmt_get_info:BmConfig
call bm_set_crc16_custom_parameters:void cxt_id:i32 calc_name:string crc16_config:BmCrc16Config
    !InvalidCrcOperation
call bm_set_crc32_custom_parameters:void cxt_id:i32 calc_name:string crc32_config:BmCrc32Config
    !InvalidCrcOperation
call bm_set_toeplitz_hash_key:void cxt_id:i32 calc_name:string key:binary !InvalidToeplitzHashOperation
call bm_reset_state:void
call bm_get_config:string
call bm_get_config_md5:binary
call bm_get_id_from_name:i32 cxt_id:i32 resource_type:i32 resource_name:string !InvalidIdLookup
call bm_serialize_state:string
""",
    TYPES,
)
