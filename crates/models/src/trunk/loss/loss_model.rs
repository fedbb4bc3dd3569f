//! A model of the loss as a chain, and the loss that it predicts.

#[cfg(doc)]
use super::{EBI, G1DM};
use crate::parameter::ParameterError;
use crate::root::root;
use crate::trunk::Trunk;

/// A model of the loss at a given load.
#[derive(Debug)]
pub struct LossModel {
    pub name: &'static str,
    /// Spelling for people.
    pub title: &'static str,
    pub help: &'static str,
    pub source: &'static str,
    /// Whether the model includes input links, so that no packet is lost unless inputs outnumber transmitters.
    pub(super) knows_inputs: bool,
    pub(super) chain: Chain,
}

/// Logarithm of the loss that a chain predicts, for a load above 0 and, if it models input links, more input links than channels.
#[derive(Clone, Copy, Debug)]
pub(super) enum Chain {
    Of(fn(&Trunk, f64) -> f64),
    /// The loss for an assumed fraction of packets that keep their input link discarding; the result is the fixed point.
    OfDiscarding(fn(&Trunk, f64, f64) -> f64),
}

impl LossModel {
    /// Natural logarithm of the fraction of packets lost, P_B; minus infinity if no packet is lost. `load` is the intended load
    /// per wavelength channel, rho of (3.14): the rate at which unrestricted input links would send, over the capacity of the
    /// channels. It may exceed 1 and is below [`Trunk::max_load`].
    ///
    /// If the input links do not outnumber the channels nothing is lost, except in M/M/K/(K+B), which does not model input links.
    /// [`G1DM`] and [`EBI`] do not enforce the exact bound P_B >= 1 - 1/rho: in overload, with a buffer much larger than both the
    /// channels and the input links, they fall below it.
    ///
    /// Rounding causes a relative error of the loss of about (K + M + B) 1e-16.
    pub fn ln_loss(&self, trunk: &Trunk, load: f64) -> Result<f64, ParameterError> {
        trunk.check(load)?;
        if load == 0.0 || self.loses_nothing(trunk) {
            return Ok(f64::NEG_INFINITY);
        }
        Ok(match self.chain {
            Chain::Of(ln_loss) => ln_loss(trunk, load),
            Chain::OfDiscarding(ln_loss) => fixed_point(|discarding| ln_loss(trunk, load, discarding)),
        })
    }

    pub(in crate::trunk) fn loses_nothing(&self, trunk: &Trunk) -> bool {
        self.knows_inputs && trunk.inputs <= trunk.transmitters
    }

    /// The loss that the chain predicts if the fraction `discarding` of packets keeps its input link discarding, for more input
    /// links than channels and a load above 0. Models without such links ignore it.
    pub(in crate::trunk) fn ln_loss_if(&self, discarding: f64, trunk: &Trunk, load: f64) -> f64 {
        match self.chain {
            Chain::Of(ln_loss) => ln_loss(trunk, load),
            Chain::OfDiscarding(ln_loss) => ln_loss(trunk, load, discarding),
        }
    }
}

/// The loss at which a chain predicts the loss that it assumes. `ln_loss` falls as the assumed loss rises, because the arrival
/// rates fall. The fixed point is therefore unique, below the prediction without assumed loss and above the prediction that
/// assumes this one.
///
/// Differs: the thesis iterates (3.13) with the mean of guess and prediction; a bracketing search cannot oscillate.
fn fixed_point(ln_loss: impl Fn(f64) -> f64) -> f64 {
    let upper = ln_loss(0.0);
    let lower = ln_loss(libm::exp(upper));
    if lower == upper {
        // The loss is too small to change a rate, or below floating-point range.
        return upper;
    }
    libm::log(root(|loss| loss - libm::exp(ln_loss(loss)), libm::exp(lower), libm::exp(upper)))
}
