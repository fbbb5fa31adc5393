//! Reports of a hostile peer: counters that go back, jump or exceed what was sent change nothing.

use std::path::Path;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use p4cc_fixed::Program;
use proptest::prelude::*;

static PROGRAM: LazyLock<Mutex<Program>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    Mutex::new(Program::build(&folder.join("tests/report.c"), &[folder.join("bpf")], target).expect("cc"))
});

/// A connection, which has the program to itself.
struct Connection {
    program: MutexGuard<'static, Program>,
    is_open: bool,
}

impl Connection {
    fn new() -> Self {
        Self { program: PROGRAM.lock().unwrap_or_else(PoisonError::into_inner), is_open: false }
    }

    /// Takes a report; the accepted counters of both marks, and how many reports were refused.
    fn report(&mut self, k: u32, kdc: u32, sent: u32) -> (u64, u64, u64) {
        let is_new = u64::from(!std::mem::replace(&mut self.is_open, true));
        let words = [is_new, k.into(), kdc.into(), sent.into()];
        let answer = self.program.call(&words, 3).expect("the program answers");
        (answer[0], answer[1], answer[2])
    }
}

/// Counters near those of an honest peer, near the ends of 32 bits, and anything.
fn counter() -> impl Strategy<Value = u32> {
    prop_oneof![4 => 0_u32..200, 1 => (u32::MAX - 200)..=u32::MAX, 1 => any::<u32>()]
}

#[test]
fn a_report_counts_only_if_it_may_be_true() {
    let mut connection = Connection::new();
    for (k, kdc, want, why) in [
        (3, 1, (3, 1, 0), "an honest report"),
        (3, 1, (3, 1, 0), "the same counters report nothing"),
        (2, 1, (3, 1, 1), "a counter that goes back"),
        (8, 3, (3, 1, 2), "more marks than packets"),
        (u32::MAX, 1, (3, 1, 3), "a jump of 2^32"),
        (9, 1, (9, 1, 3), "an honest report counts after them"),
    ] {
        assert_eq!(connection.report(k, kdc, 10), want, "{why}");
    }
}

/// The kernel's count of segments and the option's counters have 32 bits, and go on from zero.
#[test]
fn reports_count_on_where_counters_wrap() {
    let mut connection = Connection::new();
    let (mut sent, mut k, mut kdc) = (0_u32, 0_u32, 0_u32);
    for step in 0..20 {
        sent = sent.wrapping_add(1 << 31);
        k = k.wrapping_add(1 << 30);
        kdc = kdc.wrapping_add(1 << 29);
        assert_eq!(connection.report(k, kdc, sent), (k.into(), kdc.into(), 0), "step {step}");
    }
    // 20 * 2^29 packets are without a mark.
    for step in 0..10 {
        k = k.wrapping_add(1 << 30);
        assert_eq!(connection.report(k, kdc, sent), (k.into(), kdc.into(), 0), "step {step}");
    }
    let before = (k.into(), kdc.into(), 1);
    assert_eq!(connection.report(k.wrapping_add(1), kdc, sent), before, "more marks than packets");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Whatever a peer says: the counters never go back and stay within the packets sent, and a refused
    /// report leaves both as they were.
    #[test]
    fn no_report_harms(reports in prop::collection::vec((counter(), counter(), 0_u32..20), 1..40)) {
        let (mut connection, mut sent, mut before) = (Connection::new(), 0, (0, 0, 0));
        for (k, kdc, more) in reports {
            sent += more;
            let after = connection.report(k, kdc, sent);
            prop_assert!(after.0 >= before.0 && after.1 >= before.1);
            prop_assert!(after.0 + after.1 <= u64::from(sent));
            let is_refused = after.2 > before.2;
            prop_assert_eq!((after.0, after.1) == (u64::from(k), u64::from(kdc)), !is_refused);
            prop_assert!(!is_refused || (after.0, after.1) == (before.0, before.1));
            before = after;
        }
    }
}
