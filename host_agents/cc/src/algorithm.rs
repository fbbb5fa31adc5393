//! The two parts of a controller, each an algorithm: slow start and congestion avoidance.
//!
//! They share the [`Window`] and nothing else, so any slow start composes with any avoidance.

use core::fmt;

use crate::{AckSample, CutCause, HeaderField, Phase, Publisher, Window};

/// Whether an ACK made the congestion-avoidance algorithm cut the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reaction {
    /// The window was left alone.
    None,
    /// The window was cut: slow start ends, and the next data packet carries CWR.
    Cut,
}

/// How the receiver is to return marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Echo {
    /// Each ACK says what its packets met (docs/algorithms/window.md#dctcp-receiver):
    /// the share of marked packets can be counted.
    PerPacket,
    /// A mark is repeated in every ACK until a packet with CWR arrives
    /// (docs/algorithms/window.md#reno-ecn, RFC3168): no mark is lost with its ACK.
    UntilCwr,
}

/// A loss that the transport has found.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Loss {
    /// What was in flight, in segments.
    pub flight_segments: u64,
    /// The window as the loss finds it, in segments.
    pub cwnd_segments: f64,
    /// What told of it: duplicates, or the retransmission timer.
    pub cause: CutCause,
}

impl Loss {
    /// Reno's answer (RFC5681, docs/algorithms/window.md#reno-rules): `max(flight/2, 2)`, in segments.
    #[must_use]
    pub fn half_of_flight(&self) -> f64 {
        (self.flight_segments as f64 / 2.0).max(2.0)
    }
}

/// Growth above the threshold, and the answer to congestion marks in every phase.
pub trait CongestionAvoidance: fmt::Debug + Send {
    /// Forgets the flow's past; `snd_nxt` is where it starts.
    fn start(&mut self, snd_nxt: u64);

    /// Sees every valid ACK, duplicates and fast recovery
    /// included, before anything else: the place of estimates. The window is as the ACK finds it.
    fn observe(&mut self, ack: &AckSample, window: &Window, publisher: &mut dyn Publisher);

    /// Answers the marks of an ACK outside fast recovery, after [`Self::observe`] of the same ACK.
    fn react(&mut self, ack: &AckSample, window: &mut Window, publisher: &mut dyn Publisher) -> Reaction;

    /// Grows the window by an ACK of new data in congestion avoidance.
    fn grow(&mut self, ack: &AckSample, window: &mut Window);

    /// Whether the ACK of new data that made [`Self::react`] cut the window grows it too, behind the cut.
    ///
    /// Not so by default: RFC3168 6.1.2 has no growth on an ACK that echoes congestion.
    fn grows_after_cut(&self, _ack: &AckSample) -> bool {
        false
    }

    /// The threshold after a loss (RFC5681, docs/algorithms/window.md#reno-rules: `max(flight/2, 2)`).
    fn ssthresh_after_loss(&mut self, loss: &Loss) -> f64 {
        loss.half_of_flight()
    }

    /// How the receiver is to return marks.
    fn echo(&self) -> Echo {
        Echo::PerPacket
    }

    /// Whether it reads [`AckSample::flow`], which is left empty for those that do not.
    fn reads_progress(&self) -> bool {
        false
    }

    /// The estimate of the marked share, where the algorithm keeps one.
    fn alpha(&self) -> Option<f64> {
        None
    }

    /// Takes the headers of the user's program that the next ACK echoes, for algorithms of the user's. It is
    /// called only where [`Self::reads_headers`] says so.
    fn on_headers(&mut self, _fields: &[HeaderField<'_>]) {}

    /// Whether it takes such headers.
    fn reads_headers(&self) -> bool {
        false
    }

    /// The value of an attribute by its name, for algorithms of the user's.
    fn state(&self, _name: &str) -> Option<f64> {
        None
    }
}

/// Growth below the threshold.
pub trait SlowStart: fmt::Debug + Send {
    /// A slow start begins: at the start of the flow and after each timeout; the window is already set.
    fn enter(&mut self, snd_nxt: u64, window: &Window);

    /// Takes an ACK during slow start that did not make the window be cut; grows the window.
    ///
    /// Returns false when slow start is to end although the window is below the threshold.
    fn on_ack(&mut self, ack: &AckSample, window: &mut Window, publisher: &mut dyn Publisher) -> bool;

    /// Grows the window by the ACK of new data that made it be cut, which ends this slow start.
    ///
    /// Returns false where the module has no law for it: the ACK then counts as one in congestion avoidance.
    fn grow_after_cut(&self, _ack: &AckSample, _window: &mut Window) -> bool {
        false
    }

    /// The name of the phase that the module is in.
    fn phase(&self) -> Phase {
        Phase::SlowStart
    }

    /// The growth exponent, where the module keeps one.
    fn delta(&self) -> Option<f64> {
        None
    }

    /// The value of an attribute by its name, for algorithms of the user's.
    fn state(&self, _name: &str) -> Option<f64> {
        None
    }
}
