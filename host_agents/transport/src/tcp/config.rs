//! What both ends of a TCP connection are told before it begins.

use p4cc_cc::{ConfigError, Echo};
use p4cc_units::Span;

use crate::{EcnProfile, Recovery, SenderConfig};

/// Largest shift of a window (RFC7323 2.3).
const MAX_SHIFT: u8 = 14;
const MAX_WINDOW_BYTES: u64 = 65_535 << MAX_SHIFT;

/// What both ends of a connection are told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TcpConfig {
    /// Largest payload of a segment.
    pub mss_bytes: u16,
    /// Receive window of either end.
    pub window_bytes: u32,
    /// Levels of marks; none for a sender that is not capable of ECN.
    pub profile: Option<EcnProfile>,
    /// A mark is repeated until CWR (RFC3168); else each ACK tells of its own packets (RFC8257).
    pub echo_until_cwr: bool,
    /// Both ends read SACK blocks.
    pub has_sack: bool,
    /// Time until a SYN or FIN is sent again for the first time.
    pub rto_initial: Span,
    /// Longest such time.
    pub rto_max: Span,
}

impl SenderConfig {
    /// What both ends of a connection of this sender are told.
    ///
    /// # Errors
    /// What [`Self::validate`] finds, and a window above TCP's.
    pub fn tcp(&self) -> Result<TcpConfig, ConfigError> {
        let controller = self.controller()?;
        let window_bytes = u64::from(self.rwnd) * u64::from(self.mss_bytes);
        let too_large = || {
            let cause = format!("{} segments of {} B are {window_bytes} B", self.rwnd, self.mss_bytes);
            let remedy = format!("a TCP window has {MAX_WINDOW_BYTES} B at most: lower rwnd");
            ConfigError::new("rwnd", cause, remedy)
        };
        if window_bytes > MAX_WINDOW_BYTES {
            return Err(too_large());
        }
        let mss_bytes = u16::try_from(self.mss_bytes)
            .map_err(|_| ConfigError::new("mss_bytes", "it is above TCP's largest segment", "lower it"))?;
        let profile = self.ecn_profile.filter(|_| controller.switch_needs().reads_marks());
        let rto = self.rto_bounds();
        Ok(TcpConfig {
            mss_bytes,
            window_bytes: u32::try_from(window_bytes).map_err(|_| too_large())?,
            profile,
            echo_until_cwr: profile.is_some() && controller.echo() == Echo::UntilCwr,
            has_sack: self.recovery == Recovery::Sack,
            rto_initial: rto.initial,
            rto_max: rto.max,
        })
    }
}

impl TcpConfig {
    /// The shift with which the window fits its field.
    pub(super) fn window_scale(&self) -> u8 {
        (0..MAX_SHIFT).find(|shift| self.window_bytes.div_ceil(1 << shift) <= 65_535).unwrap_or(MAX_SHIFT)
    }

    /// The window field of a segment; that of a SYN is not scaled.
    pub(super) fn window(&self, shift: u8) -> u16 {
        u16::try_from(self.window_bytes.div_ceil(1 << shift)).unwrap_or(u16::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_scaled_to_what_the_sender_may_use() {
        for (rwnd, mss_bytes, shift) in
            [(45, 1_448, 0), (46, 1_448, 1), (1_000, 1_448, 5), (65_536, 9_000, 14)]
        {
            let config = SenderConfig { rwnd, mss_bytes, ..SenderConfig::default() };
            let tcp = config.tcp().expect("a window of TCP");
            let window = u64::from(tcp.window(tcp.window_scale())) << tcp.window_scale();
            let used = u64::from(rwnd) * u64::from(mss_bytes);
            assert_eq!(tcp.window_scale(), shift);
            assert!(used <= window && window < used + (1 << shift), "{rwnd} x {mss_bytes}: {window}");
        }
    }

    #[test]
    fn a_window_above_tcps_is_refused() {
        let config = SenderConfig { rwnd: 65_536, mss_bytes: 16_384, ..SenderConfig::default() };
        assert_eq!(config.validate(), Ok(()), "our header takes 2^30 B");
        let error = config.tcp().expect_err("above 65535 << 14");
        assert_eq!(
            error.to_string(),
            "rwnd: 65536 segments of 16384 B are 1073741824 B; \
             a TCP window has 1073725440 B at most: lower rwnd"
        );
    }
}
