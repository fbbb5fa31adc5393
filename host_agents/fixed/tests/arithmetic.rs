//! `p4cc_fixed.h` against floating point and against 128-bit integers, over the whole range of each function.

use std::path::Path;
use std::sync::{LazyLock, Mutex};

use p4cc_fixed::{Program, include_folder};
use proptest::prelude::*;

/// One whole, as segments and as a fraction.
const SEGMENT: f64 = 4_294_967_296.0;
const ONE: u64 = 1 << 62;

/// The bound of the issue: a tenth of a per cent. The functions are far better; each test says how far.
const TOLERANCE: f64 = 1e-3;

static PROGRAM: LazyLock<Mutex<Program>> = LazyLock::new(|| {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/arithmetic.c");
    Mutex::new(
        Program::build(&source, &[include_folder()], Path::new(env!("CARGO_TARGET_TMPDIR"))).expect("cc"),
    )
});

#[derive(Clone, Copy)]
enum Function {
    ProductHigh,
    ProductLow,
    MultiplyShift,
    Shift,
    Quotient,
    QuotientOfProducts,
    Log2,
    Exp2Negative,
    Power,
    WindowPower,
    Inverse,
    Average,
    Ratio,
}

fn call(function: Function, arguments: &[u64], bits: i32) -> u64 {
    let mut request = [0; 6];
    request[0] = function as u64;
    request[1..=arguments.len()].copy_from_slice(arguments);
    request[5] = i64::from(bits) as u64;
    PROGRAM.lock().expect("no test panics with it").call(&request, 1).expect("the program answers")[0]
}

fn fraction(value: f64) -> u64 {
    (value * ONE as f64) as u64
}

fn segments(value: f64) -> u64 {
    (value * SEGMENT) as u64
}

fn as_fraction(value: u64) -> f64 {
    value as f64 / ONE as f64
}

fn relative(got: f64, want: f64) -> f64 {
    if got == want { 0.0 } else { (got - want).abs() / want.abs().max(f64::MIN_POSITIVE) }
}

/// Any number of bits, each width as likely as another.
fn word() -> impl Strategy<Value = u64> {
    (0_u32..64, any::<u64>()).prop_map(|(shift, value)| value >> shift)
}

/// A window from one segment to 2^31.
fn window() -> impl Strategy<Value = u64> {
    (0.0_f64..=31.0).prop_map(|log| segments(libm::exp2(log)))
}

/// A fraction down to 2^-50, and the ends.
fn share() -> impl Strategy<Value = u64> {
    prop_oneof![
        8 => (0.0_f64..50.0).prop_map(|log| fraction(libm::exp2(-log))),
        1 => Just(0),
        1 => Just(ONE),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn products_are_exact(a in word(), b in word(), shift in 1_i32..64) {
        let product = u128::from(a) * u128::from(b);
        prop_assert_eq!(call(Function::ProductHigh, &[a, b], 0), (product >> 64) as u64);
        prop_assert_eq!(call(Function::ProductLow, &[a, b], 0), product as u64);
        let rounded = product.saturating_add(1 << (shift - 1)) >> shift;
        prop_assert_eq!(call(Function::MultiplyShift, &[a, b], shift), u64::try_from(rounded).unwrap_or(u64::MAX));
    }

    #[test]
    fn shifts_round_and_saturate(a in word(), shift in -90_i32..90) {
        let want = if shift >= 0 {
            u64::try_from(u128::from(a).checked_shl(shift as u32).filter(|_| shift < 64).unwrap_or(u128::MAX))
                .unwrap_or(u64::MAX)
        } else {
            ((u128::from(a) + (1_u128 << (-shift - 1))) >> -shift) as u64
        };
        prop_assert_eq!(call(Function::Shift, &[a], shift), if a == 0 { 0 } else { want });
    }

    /// No divisor divides by zero, and what does not fit saturates.
    #[test]
    fn quotients(a in word(), b in word(), c in word(), d in word(), bits in prop::sample::select(vec![16, 32, 62])) {
        let scale = libm::exp2(f64::from(bits));
        for (got, above, below) in [
            (call(Function::Quotient, &[a, b], bits), a as f64, b as f64),
            (call(Function::QuotientOfProducts, &[a, b, c, d], bits), a as f64 * b as f64, c as f64 * d as f64),
        ] {
            let want = if above == 0.0 { 0.0 } else { above / below * scale };
            if want < 1.8e19 {
                // 2^-30 of the result, or half of the last digit.
                prop_assert!((got as f64 - want).abs() <= want * 1e-9 + 1.0, "{got} {want}");
            } else {
                prop_assert!(got as f64 >= 1.8e19);
            }
        }
        let ratio = as_fraction(call(Function::Ratio, &[a, b], 0));
        let want = if a >= b { 1.0 } else { a as f64 / b as f64 };
        prop_assert!((ratio - want).abs() <= want * 1e-9 + 1e-18);
    }

    #[test]
    fn logarithms(value in word()) {
        let value = value.max(1);
        let got = call(Function::Log2, &[value], 0) as f64 / SEGMENT;
        prop_assert!((got - libm::log2(value as f64)).abs() < 4e-9, "{got}");
    }

    #[test]
    fn powers_of_two(power in 0.0_f64..70.0) {
        let got = as_fraction(call(Function::Exp2Negative, &[segments(power)], 0));
        prop_assert!((got - libm::exp2(-power)).abs() <= libm::exp2(-power) * 2e-8 + 3e-19, "{got}");
    }

    /// The penalties of D2TCP (exponents from 0.01 to 100) and L2TCP (0.001 to 1,000).
    #[test]
    fn penalties(alpha in share(), exponent in (-10.0_f64..10.0).prop_map(libm::exp2)) {
        let exponent_fixed = segments(exponent);
        let got = as_fraction(call(Function::Power, &[alpha, exponent_fixed], 0));
        let want = libm::pow(as_fraction(alpha), exponent_fixed as f64 / SEGMENT);
        // Below 2^-50 a penalty cuts nothing from the largest window.
        prop_assert!(relative(got, want) < TOLERANCE / 100.0 || (got - want).abs() < 1e-15, "{got} {want}");
    }

    /// GST's growth per segment, cwnd^(delta-1), for windows up to 2^31 segments.
    #[test]
    fn growth_of_gst(cwnd in window(), delta in share()) {
        let got = as_fraction(call(Function::WindowPower, &[cwnd, delta], 0));
        let want = libm::pow(cwnd as f64 / SEGMENT, as_fraction(delta) - 1.0);
        prop_assert!(relative(got, want) < TOLERANCE / 10_000.0, "{got} {want}");
    }

    /// The additive increase, 1/cwnd.
    #[test]
    fn inverses(cwnd in window()) {
        let got = as_fraction(call(Function::Inverse, &[cwnd], 0));
        prop_assert!(relative(got, SEGMENT / cwnd as f64) < TOLERANCE / 100_000.0, "{got}");
    }

    /// DCTCP's alpha: the estimate stays between 0 and 1 and within 0.1 % of floating point down to 2^-48,
    /// whatever the shares are; an unmarked flow's alpha falls to 0.
    #[test]
    fn estimates(shares in prop::collection::vec(share(), 1..20), g in 0.000_1_f64..=1.0, alpha0 in share()) {
        let (mut fixed, mut real, g) = (alpha0, as_fraction(alpha0), fraction(g));
        for marked in shares {
            fixed = call(Function::Average, &[fixed, marked, g], 0);
            real = (1.0 - as_fraction(g)) * real + as_fraction(g) * as_fraction(marked);
            prop_assert!(fixed <= ONE);
            prop_assert!(relative(as_fraction(fixed), real) < TOLERANCE || real < 4e-15, "{fixed} {real}");
        }
    }
}

/// Arguments at the ends of the ranges, where an overflow or a division by zero would be.
#[test]
fn the_ends_of_every_range() {
    let ends =
        [0, 1, 2, SEGMENT as u64 - 1, SEGMENT as u64, 1 << 63, ONE - 1, ONE, ONE + 1, u64::MAX - 1, u64::MAX];
    for a in ends {
        for b in ends {
            for bits in [-64, -1, 1, 16, 32, 62, 63] {
                call(Function::Quotient, &[a, b], bits);
                call(Function::QuotientOfProducts, &[a, b, b, a], bits);
                call(Function::Shift, &[a], bits);
            }
            assert!(call(Function::Ratio, &[a, b], 0) <= ONE);
            assert!(call(Function::Power, &[a.min(ONE), b], 0) <= ONE);
            assert!(call(Function::WindowPower, &[a, b.min(ONE)], 0) <= ONE);
            assert!(call(Function::Average, &[a.min(ONE), b.min(ONE), ONE], 0) <= ONE);
        }
        assert!(call(Function::Inverse, &[a], 0) <= ONE);
    }
    assert_eq!(call(Function::Power, &[0, 1], 0), 0);
    assert_eq!(call(Function::Power, &[0, 0], 0), ONE);
    assert_eq!(call(Function::Inverse, &[1 << 63], 0), ONE >> 31);
}

/// Values that senders meet all the time come out exactly.
#[test]
fn common_values_are_exact() {
    for power in 0_u32..31 {
        assert_eq!(call(Function::Inverse, &[(SEGMENT as u64) << power], 0), ONE >> power);
        assert_eq!(call(Function::Log2, &[1 << power], 0), u64::from(power) << 32);
        assert_eq!(call(Function::Exp2Negative, &[u64::from(power) << 32], 0), ONE >> power);
    }
    assert_eq!(call(Function::Average, &[ONE, 0, ONE >> 4], 0), ONE - (ONE >> 4));
}
