//! Powers, logarithms and roots that give the same bits on every machine, for users' algorithms.

use pyo3::prelude::*;

/// `base` to the power `exponent`.
#[pyfunction]
pub(crate) fn maths_pow(base: f64, exponent: f64) -> f64 {
    libm::pow(base, exponent)
}

/// `e` to the power `x`.
#[pyfunction]
pub(crate) fn maths_exp(x: f64) -> f64 {
    libm::exp(x)
}

/// The natural logarithm.
#[pyfunction]
pub(crate) fn maths_log(x: f64) -> f64 {
    libm::log(x)
}

/// The cube root.
#[pyfunction]
pub(crate) fn maths_cbrt(x: f64) -> f64 {
    libm::cbrt(x)
}
