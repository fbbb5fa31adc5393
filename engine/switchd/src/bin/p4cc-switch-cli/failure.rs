//! Why a command failed, in simple_switch_CLI's words.

use std::fmt;

use p4cc_thrift::client::CallError;

/// One line, as simple_switch_CLI prints it.
pub(crate) struct Failure(String);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Failure {
    /// A command that cannot be carried out.
    pub(crate) fn error(text: impl fmt::Display) -> Self {
        Self(format!("Error: {text}"))
    }

    /// A key of an entry that cannot be read.
    pub(crate) fn key(text: impl fmt::Display) -> Self {
        Self(format!("Invalid match key: {text}"))
    }

    /// Action data that cannot be read.
    pub(crate) fn data(text: impl fmt::Display) -> Self {
        Self(format!("Invalid runtime data: {text}"))
    }

    /// Words that are no command.
    pub(crate) fn unknown(line: &str) -> Self {
        Self(format!("*** Unknown syntax: {line}"))
    }

    /// What a call came to.
    pub(crate) fn of_call(name: &str, error: CallError) -> Self {
        match error {
            CallError::Refused(code) => {
                let (what, codes) = exception(name);
                let known = usize::try_from(code).ok().and_then(|code| codes.get(code.checked_sub(1)?));
                Self(format!("Invalid {what} operation ({})", known.copied().unwrap_or("ERROR")))
            }
            other => Self::error(other),
        }
    }
}

/// Codes of tables from 1; 100 is `ERROR`.
const TABLE: &[&str] = &[
    "TABLE_FULL",
    "INVALID_HANDLE",
    "EXPIRED_HANDLE",
    "COUNTERS_DISABLED",
    "METERS_DISABLED",
    "AGEING_DISABLED",
    "INVALID_TABLE_NAME",
    "INVALID_ACTION_NAME",
    "WRONG_TABLE_TYPE",
    "INVALID_MBR_HANDLE",
    "MBR_STILL_USED",
    "MBR_ALREADY_IN_GRP",
    "MBR_NOT_IN_GRP",
    "INVALID_GRP_HANDLE",
    "GRP_STILL_USED",
    "EMPTY_GRP",
    "DUPLICATE_ENTRY",
    "BAD_MATCH_KEY",
    "INVALID_METER_OPERATION",
    "DEFAULT_ACTION_IS_CONST",
    "DEFAULT_ENTRY_IS_CONST",
    "NO_DEFAULT_ENTRY",
    "INVALID_ACTION_PROFILE_NAME",
    "NO_ACTION_PROFILE_SELECTION",
    "IMMUTABLE_TABLE_ENTRIES",
    "BAD_ACTION_DATA",
    "NO_TABLE_KEY",
];
const METER: &[&str] = &[
    "INVALID_METER_NAME",
    "INVALID_INDEX",
    "BAD_RATES_LIST",
    "INVALID_INFO_RATE_VALUE",
    "INVALID_BURST_SIZE_VALUE",
];
const MULTICAST: &[&str] = &["TABLE_FULL", "INVALID_MGID", "INVALID_MGRP_HANDLE", "INVALID_L1_HANDLE"];

/// What a call's exception is about, and the names of its codes from 1.
fn exception(name: &str) -> (&'static str, &'static [&'static str]) {
    let (service, method) = name.split_once(':').unwrap_or(("", name));
    let kinds: [(&str, &str, &[&str]); 8] = [
        ("bm_counter_", "counter", &["INVALID_COUNTER_NAME", "INVALID_INDEX"]),
        ("bm_meter_", "meter", METER),
        ("bm_register_", "register", &["INVALID_REGISTER_NAME", "INVALID_INDEX"]),
        ("bm_parse_vset_", "parser value set", &["INVALID_PARSE_VSET_NAME"]),
        ("bm_dev_mgr_", "device manager", &[]),
        ("bm_set_crc", "crc", &["INVALID_CALCULATION_NAME", "WRONG_TYPE_CALCULATION", "INVALID_CONFIG"]),
        (
            "bm_set_toeplitz",
            "Toeplitz hash",
            &["INVALID_CALCULATION_NAME", "WRONG_TYPE_CALCULATION", "INVALID_KEY"],
        ),
        ("bm_mt_", "table", TABLE),
    ];
    match (service, method) {
        ("simple_switch", _) => ("mirroring", &["SESSION_NOT_FOUND"]),
        ("simple_pre_lag", _) => ("PRE", MULTICAST),
        (_, "bm_load_new_config" | "bm_swap_configs") => {
            ("swap", &["CONFIG_SWAP_DISABLED", "ONGOING_SWAP", "NO_ONGOING_SWAP"])
        }
        _ => kinds
            .iter()
            .find(|(start, _, _)| method.starts_with(start))
            .map_or(("switch", &[]), |(_, what, codes)| (what, codes)),
    }
}
