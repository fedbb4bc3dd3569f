//! A trunk: many input links, fewer wavelength channels shared by all of them, and a few waiting places.
//!
//! The loss at a given load is the open-loop problem of section 3.6 of the thesis (Cui, "Three problems in TCP performance
//! analysis and congestion management"), which is the source of all equation numbers here. An input link is idle for an
//! exponential time and then receives a packet of exponential length with mean 1, regardless of the packet's fate. [`LossModel`]
//! has the thesis's five approximations and one of Tailback's own, one file each in `loss/`. [`DetailedChain`] solves the exact
//! model where it is a finite chain; [`monte_carlo`] simulates it, also where it is not. [`closed_loop()`] couples the loss with
//! TCP. Losses are logarithms, because relevant ones are far below the smallest floating-point number.

mod chain;
mod closed_loop;
mod exact;
mod loss;
pub mod monte_carlo;
mod variant;

pub use closed_loop::*;
pub use exact::*;
pub use loss::*;
pub use variant::TrunkVariant;

use crate::model::{Arguments, Inputs, Model, Parameter, ParameterKind, ParameterSpec, answers};
use crate::parameter::{ParameterError, Scalar, arguments_of_one_number, whole};

pub(crate) const MODELS: &[&[Model]] = &[loss::MODELS, exact::MODELS, closed_loop::MODELS];

/// Input links, wavelength channels that carry their packets on, and waiting places that the channels share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trunk {
    inputs: u32,
    transmitters: u32,
    buffer: u32,
}

const MAX_LINKS: u32 = 1_000_000;
const MAX_BUFFER: u32 = 1_000_000_000;
const MIN_LOAD: f64 = 1e-200;

impl Trunk {
    /// `inputs` (M) and `transmitters` (K) from 1 to 1,000,000, `buffer` (B) in packets from 0 to 1,000,000,000. A place is freed
    /// as soon as its packet starts transmission, so that `buffer` packets can wait.
    pub fn new(inputs: u64, transmitters: u64, buffer: u64) -> Result<Trunk, ParameterError> {
        Ok(Trunk {
            inputs: within("inputs", inputs, 1, MAX_LINKS, "1 to 1000000 input links")?,
            transmitters: within("transmitters", transmitters, 1, MAX_LINKS, "1 to 1000000 wavelength channels")?,
            buffer: within("buffer", buffer, 0, MAX_BUFFER, "0 to 1000000000 packets")?,
        })
    }

    pub fn inputs(&self) -> u32 {
        self.inputs
    }

    pub fn transmitters(&self) -> u32 {
        self.transmitters
    }

    pub fn buffer(&self) -> u32 {
        self.buffer
    }

    /// The load at which no input link is ever idle, M/K: an upper bound of all loads.
    pub fn max_load(&self) -> f64 {
        f64::from(self.inputs) / f64::from(self.transmitters)
    }

    fn check(&self, load: f64) -> Result<(), ParameterError> {
        match load {
            _ if load == 0.0 || (load >= MIN_LOAD && load < self.max_load()) => Ok(()),
            _ => Err(ParameterError::new(
                "load",
                load,
                format!(
                    "0, or 1e-200 up to but not {} (inputs / transmitters, where no input link is ever idle)",
                    self.max_load()
                ),
            )),
        }
    }
}

fn within(name: &'static str, given: u64, min: u32, max: u32, expected: &'static str) -> Result<u32, ParameterError> {
    match u32::try_from(given) {
        Ok(number) if (min..=max).contains(&number) => Ok(number),
        _ => Err(ParameterError::new(name, given, expected)),
    }
}

impl Arguments for Trunk {
    fn describe(_asked: ParameterSpec, parameters: &mut Vec<Parameter>) {
        let kind = |range| ParameterKind::Number { whole: true, range };
        let of = |name, help: &str, range| Parameter { name, help: help.into(), kind: kind(range), default: None, named: true };
        parameters.extend([
            of("inputs", "M, input links, each as fast as one transmitter.", "1 to 1,000,000"),
            of("transmitters", "K, transmitters that share the buffer: wavelength channels of the trunk.", "1 to 1,000,000"),
            of("buffer", "B, buffer size in packets.", "0 to 1,000,000,000"),
        ]);
    }

    fn read(_name: &'static str, given: &mut Inputs) -> Result<Trunk, ParameterError> {
        let mut count = |name| whole(name, given.number(name)?);
        Trunk::new(count("inputs")?, count("transmitters")?, count("buffer")?)
    }
}

/// The rate at which unrestricted input links would send, over the capacity of the channels: rho of (3.14). The trunk determines
/// the valid range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntendedLoad(pub f64);

impl Scalar for IntendedLoad {
    const HELP: &'static str = "rho, intended load per channel: the rate at which unrestricted input links would send, over the capacity of the channels.";
    const RANGE: &'static str = "0, or 1e-200 up to but not `inputs / transmitters`; may exceed 1";

    fn of(_name: &'static str, number: f64) -> Result<IntendedLoad, ParameterError> {
        Ok(IntendedLoad(number))
    }
}

arguments_of_one_number!(IntendedLoad);

answers! {
    /// Loss of a trunk at a given load.
    pub struct TrunkLoss {
        /// Fraction of packets lost, 0 to 1; also 0 if it is below the smallest floating-point number.
        loss: f64,
        /// Logarithm of the loss to base 10, which does not underflow; minus infinity if no packet is lost.
        log10_loss: f64,
    }
}

impl TrunkLoss {
    fn of(ln_loss: f64) -> TrunkLoss {
        TrunkLoss { loss: libm::exp(ln_loss), log10_loss: ln_loss / std::f64::consts::LN_10 }
    }
}
