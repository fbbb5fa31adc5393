//! Colours of packets: psa_switch's begin with red, those of the IR with green. Both go around in a circle.

/// How many there are.
pub const COLORS: u64 = 3;
/// Steps from a colour of the IR to the same one of psa_switch.
pub const TO_RED_FIRST: u64 = 1;
/// Steps from a colour of psa_switch to the same one of the IR.
pub const TO_GREEN_FIRST: u64 = COLORS - TO_RED_FIRST;
