"""Types of BMv2's main service."""

from bm_runtime.api import types

TYPES = types("""
enum BmMatchParamType EXACT=0 LPM TERNARY VALID RANGE
struct BmMatchParamExact key:binary
struct BmMatchParamLPM key:binary prefix_length:i32
struct BmMatchParamTernary key:binary mask:binary
struct BmMatchParamValid key:bool
struct BmMatchParamRange start:binary end_:binary
struct BmMatchParam type:i32 exact:BmMatchParamExact lpm:BmMatchParamLPM ternary:BmMatchParamTernary
    valid:BmMatchParamValid range:BmMatchParamRange
struct BmAddEntryOptions priority:i32
struct BmCounterValue bytes:i64 packets:i64
struct BmMeterRateConfig units_per_micros:double burst_size:i32
enum TableOperationErrorCode TABLE_FULL INVALID_HANDLE EXPIRED_HANDLE COUNTERS_DISABLED METERS_DISABLED
    AGEING_DISABLED INVALID_TABLE_NAME INVALID_ACTION_NAME WRONG_TABLE_TYPE INVALID_MBR_HANDLE MBR_STILL_USED
    MBR_ALREADY_IN_GRP MBR_NOT_IN_GRP INVALID_GRP_HANDLE GRP_STILL_USED EMPTY_GRP DUPLICATE_ENTRY
    BAD_MATCH_KEY INVALID_METER_OPERATION DEFAULT_ACTION_IS_CONST DEFAULT_ENTRY_IS_CONST NO_DEFAULT_ENTRY
    INVALID_ACTION_PROFILE_NAME NO_ACTION_PROFILE_SELECTION IMMUTABLE_TABLE_ENTRIES BAD_ACTION_DATA
    NO_TABLE_KEY ERROR=100
exception InvalidTableOperation code:i32
enum CounterOperationErrorCode INVALID_COUNTER_NAME INVALID_INDEX ERROR
exception InvalidCounterOperation code:i32
enum SwapOperationErrorCode CONFIG_SWAP_DISABLED ONGOING_SWAP NO_ONGOING_SWAP
exception InvalidSwapOperation code:i32
enum MeterOperationErrorCode INVALID_METER_NAME INVALID_INDEX BAD_RATES_LIST INVALID_INFO_RATE_VALUE
    INVALID_BURST_SIZE_VALUE ERROR
exception InvalidMeterOperation code:i32
enum RegisterOperationErrorCode INVALID_REGISTER_NAME INVALID_INDEX ERROR
exception InvalidRegisterOperation code:i32
enum ParseVSetOperationErrorCode INVALID_PARSE_VSET_NAME ERROR
exception InvalidParseVSetOperation code:i32
enum LearnOperationErrorCode INVALID_LIST_ID INVALID_LIST_NAME ERROR
exception InvalidLearnOperation code:i32
enum DevMgrErrorCode ERROR
exception InvalidDevMgrOperation code:i32
struct DevMgrPortInfo port_num:i32 iface_name:string is_up:bool extra:names
struct BmCrc16Config polynomial:i16 initial_remainder:i16 final_xor_value:i16 data_reflected:bool
    remainder_reflected:bool
struct BmCrc32Config polynomial:i32 initial_remainder:i32 final_xor_value:i32 data_reflected:bool
    remainder_reflected:bool
enum CrcErrorCode INVALID_CALCULATION_NAME WRONG_TYPE_CALCULATION INVALID_CONFIG
exception InvalidCrcOperation code:i32
enum ToeplitzHashErrorCode INVALID_CALCULATION_NAME WRONG_TYPE_CALCULATION INVALID_KEY
exception InvalidToeplitzHashOperation code:i32
enum BmActionEntryType NONE=0 ACTION_DATA MBR_HANDLE GRP_HANDLE
struct BmActionEntry action_type:i32 action_name:string action_data:list<binary> mbr_handle:i32 grp_handle:i32
struct BmMtEntryLife timeout_ms:i32 time_since_hit_ms:i32
struct BmMtEntry match_key:list<BmMatchParam> options:BmAddEntryOptions entry_handle:i32
    action_entry:BmActionEntry life:BmMtEntryLife
struct BmMtActProfMember mbr_handle:i32 action_name:string action_data:list<binary>
struct BmMtActProfGroup grp_handle:i32 mbr_handles:list<i32>
struct BmConfig device_id:i64 thrift_port:i32 notifications_socket:string elogger_socket:string
    debugger_socket:string
enum BmResourceType MATCH_TABLE=0 ACTION_PROFILE COUNTER METER REGISTER LEARNING_LIST
enum IdLookupErrorCode INVALID_RESOURCE_TYPE=0 INVALID_RESOURCE_NAME
exception InvalidIdLookup code:i32
""")
globals().update(TYPES)
__all__ = list(TYPES)
