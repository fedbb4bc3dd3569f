//! Transcendental functions, from `libm` only. The platform's own functions differ in the last bits, and results must not.

/// Natural logarithm.
pub fn ln(x: f64) -> f64 {
    libm::log(x)
}

/// e to the x.
pub fn exp(x: f64) -> f64 {
    libm::exp(x)
}

/// x to the y.
pub fn pow(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

/// Cosine of radians.
pub fn cos(x: f64) -> f64 {
    libm::cos(x)
}

/// Cube root.
pub fn cbrt(x: f64) -> f64 {
    libm::cbrt(x)
}
