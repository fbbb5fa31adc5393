//! Numbers that the chip's tables may name.

use p4cc_exec::control::ControlError;

use crate::config::MAX_PORTS;

/// Pipes of the chip; bits 8 and 7 of a port's number say which is its own.
pub const PIPES: u8 = 4;

/// Whether a number can be a port's.
pub(crate) fn check_port(what: &str, port: u32) -> Result<(), ControlError> {
    if port < MAX_PORTS {
        return Ok(());
    }
    let most = MAX_PORTS - 1;
    Err(ControlError::InvalidArgument(format!("{what}: port {port} is not a number from 0 to {most}")))
}
