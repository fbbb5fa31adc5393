//! Why a call failed: a code of the service's own exception, or Thrift's.

use p4cc_exec::control::ControlError;

/// Codes of `TableOperationErrorCode` that are used here.
pub(crate) mod table {
    pub const TABLE_FULL: i32 = 1;
    pub const INVALID_HANDLE: i32 = 2;
    pub const COUNTERS_DISABLED: i32 = 4;
    pub const METERS_DISABLED: i32 = 5;
    pub const AGEING_DISABLED: i32 = 6;
    pub const INVALID_TABLE_NAME: i32 = 7;
    pub const INVALID_ACTION_NAME: i32 = 8;
    pub const WRONG_TABLE_TYPE: i32 = 9;
    pub const INVALID_MBR_HANDLE: i32 = 10;
    pub const MBR_STILL_USED: i32 = 11;
    pub const MBR_ALREADY_IN_GRP: i32 = 12;
    pub const MBR_NOT_IN_GRP: i32 = 13;
    pub const INVALID_GRP_HANDLE: i32 = 14;
    pub const GRP_STILL_USED: i32 = 15;
    pub const DUPLICATE_ENTRY: i32 = 17;
    pub const BAD_MATCH_KEY: i32 = 18;
    pub const INVALID_METER_OPERATION: i32 = 19;
    pub const DEFAULT_ENTRY_IS_CONST: i32 = 21;
    pub const INVALID_ACTION_PROFILE_NAME: i32 = 23;
    pub const IMMUTABLE_TABLE_ENTRIES: i32 = 25;
    pub const BAD_ACTION_DATA: i32 = 26;
    pub const NO_TABLE_KEY: i32 = 27;
    pub const ERROR: i32 = 100;
}

/// Codes of arrays: counters, meters, registers; `ERROR` differs.
pub(crate) mod array {
    pub const INVALID_NAME: i32 = 1;
    pub const INVALID_INDEX: i32 = 2;
    pub const ERROR: i32 = 3;
    pub const METER_BAD_RATES: i32 = 3;
    pub const METER_INVALID_RATE: i32 = 4;
    pub const METER_ERROR: i32 = 6;
    pub const VALUE_SET_ERROR: i32 = 2;
}

/// Codes of multicast.
pub(crate) mod multicast {
    pub const TABLE_FULL: i32 = 1;
    pub const INVALID_MGID: i32 = 2;
    pub const INVALID_MGRP_HANDLE: i32 = 3;
    pub const INVALID_L1_HANDLE: i32 = 4;
    pub const ERROR: i32 = 5;
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The exception that the call declares, with its code; the text goes to the log, as BMv2's has none.
    Declared(i32, String),
    /// There is no such call.
    UnknownMethod(String),
    /// An argument is missing or of another type.
    Arguments(String),
    /// What has no code.
    Internal(String),
}

impl Fault {
    pub fn new(code: i32, text: impl Into<String>) -> Self {
        Self::Declared(code, text.into())
    }

    /// A refusal of the engine as a code of table operations.
    pub fn of_table(error: ControlError) -> Self {
        let code = match &error {
            ControlError::InvalidArgument(_) => table::BAD_MATCH_KEY,
            ControlError::NotFound(_) => table::INVALID_HANDLE,
            ControlError::AlreadyExists(_) => table::DUPLICATE_ENTRY,
            ControlError::PermissionDenied(_) => table::IMMUTABLE_TABLE_ENTRIES,
            ControlError::ResourceExhausted(_) => table::TABLE_FULL,
            ControlError::OutOfRange(_)
            | ControlError::FailedPrecondition(_)
            | ControlError::Unimplemented(_) => table::ERROR,
        };
        Self::new(code, error.to_string())
    }

    /// A refusal of the engine as a code of an array's operations.
    pub fn of_array(error_code: i32) -> impl Fn(ControlError) -> Self {
        move |error| {
            let code = match &error {
                ControlError::NotFound(_) => array::INVALID_NAME,
                ControlError::OutOfRange(_) => array::INVALID_INDEX,
                _ => error_code,
            };
            Self::new(code, error.to_string())
        }
    }
}

/// What a call gives.
pub(crate) type Outcome<T> = Result<T, Fault>;
