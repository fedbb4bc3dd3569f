//! A trunk: many input links, fewer wavelength channels that all of them share, and a few waiting places.
//!
//! How much is lost at a given load is the open-loop question of section 3.6 of the thesis (Cui, "Three problems in TCP performance
//! analysis and congestion management"), from which all equation numbers are. An input link is idle for an exponential time and then
//! receives a packet of exponential length, of mean 1, whatever becomes of the packet. [`LossModel`] has the thesis's five answers,
//! each a birth-death chain on the packets in the trunk: four of them in [`engset`], the fifth in [`mmkkb`], over the recurrence of
//! [`chain`]; and a sixth of our own, in [`ebl`]. [`DetailedChain`] is the answer that they approximate, where the model is a finite
//! chain; [`monte_carlo`] measures it, and where it is none, too. [`closed_loop()`] asks what TCP makes of it. Losses are
//! logarithms, for those of interest go far below the smallest float.

mod chain;
mod closed_loop;
mod ebl;
mod engset;
mod exact;
mod mmkkb;
pub mod monte_carlo;
mod reading;

pub use closed_loop::{ClosedLoop, GreedyFlows, OpenLoop, RateLaw, closed_loop};

use crate::parameter::ParameterError;
use crate::root::root;
use engset::Ports;
pub use exact::DetailedChain;
pub use reading::Reading;

/// Input links, wavelength channels that carry their packets on, and waiting places that the channels share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trunk {
    inputs: u32,
    transmitters: u32,
    buffer: u32,
}

const MOST_LINKS: u32 = 1_000_000;
const MOST_BUFFER: u32 = 1_000_000_000;
const LEAST_LOAD: f64 = 1e-200;

impl Trunk {
    /// `inputs` (M) and `transmitters` (K) from 1 to 1,000,000, `buffer` (B) in packets from 0 to 1,000,000,000. A place is free
    /// again as soon as its packet begins to leave, so that `buffer` packets can wait.
    pub fn new(inputs: u64, transmitters: u64, buffer: u64) -> Result<Trunk, ParameterError> {
        Ok(Trunk {
            inputs: within("inputs", inputs, 1, MOST_LINKS, "1 to 1000000 input links")?,
            transmitters: within("transmitters", transmitters, 1, MOST_LINKS, "1 to 1000000 wavelength channels")?,
            buffer: within("buffer", buffer, 0, MOST_BUFFER, "0 to 1000000000 packets")?,
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

    /// The load at which no input link is ever idle, M/K: loads are below it.
    pub fn most_load(&self) -> f64 {
        f64::from(self.inputs) / f64::from(self.transmitters)
    }

    fn check(&self, load: f64) -> Result<(), ParameterError> {
        match load {
            _ if load == 0.0 || (load >= LEAST_LOAD && load < self.most_load()) => Ok(()),
            _ => Err(ParameterError::new(
                "load",
                load,
                format!(
                    "0, or 1e-200 up to but not {} (inputs / transmitters, where no input link is ever idle)",
                    self.most_load()
                ),
            )),
        }
    }
}

fn within(name: &'static str, given: u64, least: u32, most: u32, expected: &'static str) -> Result<u32, ParameterError> {
    match u32::try_from(given) {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ => Err(ParameterError::new(name, given, expected)),
    }
}

/// Models of the loss at a given load: [`LossModel::Ebl`] is ours, the others are from section 3.6 of the thesis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossModel {
    /// General one-dimensional model, (3.5) to (3.12): busy, inserting and discarding input links take no new packet.
    G1dm,
    /// Engset with buffer and discarding: input links that insert are taken for idle.
    Ebd,
    /// Engset with buffer and inserting: input links that discard are taken for idle.
    Ebi,
    /// Engset with buffer: both are taken for idle.
    Eb,
    /// M/M/K/(K+B), (3.15): Poisson arrivals, whatever the number of input links.
    Mmkkb,
    /// Engset with buffer and lengths: packets leave in the time in which they came, and links that discard do so while the trunk
    /// is full.
    Ebl,
}

impl LossModel {
    pub const ALL: [LossModel; 6] =
        [LossModel::G1dm, LossModel::Ebd, LossModel::Ebi, LossModel::Eb, LossModel::Mmkkb, LossModel::Ebl];

    pub fn name(self) -> &'static str {
        match self {
            LossModel::G1dm => "g1dm",
            LossModel::Ebd => "ebd",
            LossModel::Ebi => "ebi",
            LossModel::Eb => "eb",
            LossModel::Mmkkb => "mmkkb",
            LossModel::Ebl => "ebl",
        }
    }

    /// The model of that [`name`](LossModel::name).
    pub fn named(name: &str) -> Result<LossModel, ParameterError> {
        let model = LossModel::ALL.into_iter().find(|model| model.name() == name);
        model.ok_or_else(|| ParameterError::new("model", format!("\"{name}\""), "one of g1dm, ebd, ebi, eb, mmkkb, ebl"))
    }

    /// Natural logarithm of the fraction of packets lost, P_B; minus infinity where none is. `load` is the intended load per
    /// wavelength channel, rho of (3.14): what the input links would send if nothing kept them from it, over what the channels
    /// carry. It may exceed 1 and is below [`Trunk::most_load`].
    ///
    /// With no more input links than channels nothing is lost, except in M/M/K/(K+B), which knows no input links. Nothing in
    /// [`LossModel::G1dm`] and [`LossModel::Ebi`] enforces the exact bound P_B >= 1 - 1/rho: with a buffer far above both the
    /// channels and the input links they fall below it in overload.
    ///
    /// Rounding leaves an error of the loss of about (K + M + B) 1e-16 relative.
    pub fn ln_loss(self, trunk: &Trunk, load: f64) -> Result<f64, ParameterError> {
        trunk.check(load)?;
        if load == 0.0 || self.loses_nothing(trunk) {
            return Ok(f64::NEG_INFINITY);
        }
        Ok(match self {
            LossModel::G1dm | LossModel::Ebd => fixed_point(|loss| self.ln_loss_if(loss, trunk, load)),
            LossModel::Ebi | LossModel::Eb | LossModel::Mmkkb | LossModel::Ebl => self.ln_loss_if(0.0, trunk, load),
        })
    }

    fn loses_nothing(self, trunk: &Trunk) -> bool {
        self != LossModel::Mmkkb && trunk.inputs <= trunk.transmitters
    }

    /// The loss that the chain predicts if so many packets keep their input link discarding, for more input links than channels and
    /// a load above 0. Models that know no such links predict the same of all.
    fn ln_loss_if(self, discarding: f64, trunk: &Trunk, load: f64) -> f64 {
        match self {
            LossModel::G1dm => engset::ln_loss(trunk, load, Ports { discarding, inserting: true }),
            LossModel::Ebd => engset::ln_loss(trunk, load, Ports { discarding, inserting: false }),
            LossModel::Ebi => engset::ln_loss(trunk, load, Ports { discarding: 0.0, inserting: true }),
            LossModel::Eb => engset::ln_loss(trunk, load, Ports { discarding: 0.0, inserting: false }),
            LossModel::Mmkkb => mmkkb::ln_loss(trunk, load),
            LossModel::Ebl => ebl::ln_loss(trunk, load),
        }
    }
}

/// The loss that a chain which assumes it predicts. `ln_loss` falls as the assumed loss rises, for the arrival rates do, so there
/// is one, below what assuming no loss predicts and above what assuming that predicts.
///
/// Differs: the thesis iterates (3.13) with the mean of guess and prediction; the bracket cannot oscillate.
fn fixed_point(ln_loss: impl Fn(f64) -> f64) -> f64 {
    let most = ln_loss(0.0);
    let least = ln_loss(libm::exp(most));
    if least == most {
        // The loss is too small to change a rate, perhaps too small for a float.
        return most;
    }
    libm::log(root(|loss| loss - libm::exp(ln_loss(loss)), libm::exp(least), libm::exp(most)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::{Load, Places, Servers};
    use crate::queues::mmck;
    use LossModel::{Eb, Ebd, Ebi, Ebl, G1dm, Mmkkb};

    fn loss(model: LossModel, trunk: (u64, u64, u64), load: f64) -> Result<f64, ParameterError> {
        Ok(libm::exp(ln(model, trunk, load)?))
    }

    fn ln(model: LossModel, (inputs, transmitters, buffer): (u64, u64, u64), load: f64) -> Result<f64, ParameterError> {
        model.ln_loss(&Trunk::new(inputs, transmitters, buffer)?, load)
    }

    const TRUNKS: [(u64, u64, u64); 12] = [
        (2, 1, 0),
        (2, 1, 5),
        (4, 1, 10),
        (16, 2, 1),
        (16, 2, 10),
        (16, 2, 1000),
        (80, 20, 5),
        (80, 60, 200),
        (500, 2, 1000),
        (1000, 1, 3),
        (3000, 1000, 1000),
        (3000, 2999, 20),
    ];
    const SHARES: [f64; 7] = [1e-6, 0.05, 0.3, 0.6, 0.9, 0.99, 0.9999];

    /// Every trunk under loads from almost none to almost M/K.
    fn cases() -> impl Iterator<Item = ((u64, u64, u64), f64)> {
        let loads = |trunk: (u64, u64, u64)| {
            let most = trunk.0 as f64 / trunk.1 as f64;
            SHARES.map(|share| share * most).into_iter().chain(SHARES.map(|share| share.min(share * most)))
        };
        TRUNKS.into_iter().flat_map(move |trunk| loads(trunk).map(move |load| (trunk, load)))
    }

    #[test]
    fn two_inputs_share_one_channel() -> Result<(), ParameterError> {
        // Load 1 of (3.14) is a mean gap of 1. EB: states 0, 1 have rates 2, 1 and weights 1, 2, so 1 * 2 of 2 * 1 + 1 * 2 is lost.
        // EBD: a gap of 1 + P makes weights 1, 2 / (1 + P), so P = 1 / (2 + P), the root of P^2 + 2 P = 1.
        for model in [Eb, Ebi] {
            assert!((loss(model, (2, 1, 0), 1.0)? - 0.5).abs() < 1e-15, "{}", model.name());
        }
        for model in [Ebd, G1dm] {
            assert!((loss(model, (2, 1, 0), 1.0)? - (2f64.sqrt() - 1.0)).abs() < 1e-15, "{}", model.name());
        }
        Ok(())
    }

    #[test]
    fn a_waiting_place_slows_the_inserting_link() -> Result<(), ParameterError> {
        // Three inputs, one channel, one place, load 1.5: a mean gap of 1. EBI: alpha(2) = 0 for B >= K, so rates are 3, 2, 2 and
        // weights 1, 3, 6: 12 of 3 + 6 + 12 are lost; EB is the same. With two places alpha(2) = 1/2 and the rate there is
        // 1 + 1/1.5 = 5/3, alpha(3) = 0: weights 1, 3, 6, 10 and rates 3, 2, 5/3, 2: 20 of 39.
        assert!((loss(Ebi, (3, 1, 1), 1.5)? - 4.0 / 7.0).abs() < 1e-15);
        assert!((loss(Eb, (3, 1, 1), 1.5)? - 4.0 / 7.0).abs() < 1e-15);
        assert!((loss(Ebi, (3, 1, 2), 1.5)? - 20.0 / 39.0).abs() < 1e-15);
        Ok(())
    }

    #[test]
    fn a_shallow_buffer_has_its_own_share_of_inserting_links() -> Result<(), ParameterError> {
        // B < K: alpha(3) = 1 - 1/2. Four inputs, two channels, one place, load 1: gap 1, rates 4, 3, 2 and 1 + 1/1.5 = 5/3 at 3,
        // departures 1, 2, 2: weights 1, 4, 6, 6: 10 of 4 + 12 + 12 + 10.
        assert!((loss(Ebi, (4, 2, 1), 1.0)? - 10.0 / 38.0).abs() < 1e-15);
        Ok(())
    }

    #[test]
    fn the_million_states_summed_from_the_edges_are_the_states_one_by_one() -> Result<(), ParameterError> {
        for (trunk, load) in cases().filter(|((inputs, _, _), _)| *inputs < 1000) {
            for discarding in [0.0, 1e-3, 0.2] {
                let at_once =
                    engset::ln_loss(&Trunk::new(trunk.0, trunk.1, trunk.2)?, load, Ports { discarding, inserting: true });
                let one_by_one = state_by_state(trunk, load, discarding);
                let error = (at_once - one_by_one).abs() / one_by_one.abs().max(1.0);
                assert!(error < 1e-12, "{trunk:?} at {load}, {discarding}: {at_once} and {one_by_one}");
            }
        }
        Ok(())
    }

    /// (3.6) to (3.12) as they stand, in logarithms of weights.
    fn state_by_state((inputs, transmitters, buffer): (u64, u64, u64), load: f64, discarding: f64) -> f64 {
        let (m, k, b) = (inputs as f64, transmitters as f64, buffer as f64);
        let gap = m / (load * k) - 1.0 + discarding;
        let mut weight = 0.0;
        let mut ln_arrivals = Vec::new();
        for state in 0..=transmitters + buffer {
            let i = state as f64;
            let arrivals = if state <= transmitters {
                (m - i) / gap
            } else {
                let alpha = 1.0 - (i - k) / k.max(b);
                (m - i.min(m)) / gap + (i.min(m) - k) / (gap + alpha)
            };
            ln_arrivals.push(weight + libm::log(arrivals));
            weight += libm::log(arrivals / (i + 1.0).min(k));
        }
        let most = ln_arrivals.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let last = ln_arrivals.last().copied().unwrap_or(f64::NAN);
        last - most - libm::log(ln_arrivals.iter().map(|ln| libm::exp(ln - most)).sum::<f64>())
    }

    #[test]
    fn fixed_points_predict_what_they_assume() -> Result<(), ParameterError> {
        for (trunk, load) in cases() {
            for (model, inserting) in [(G1dm, true), (Ebd, false)] {
                let found = ln(model, trunk, load)?;
                let ports = Ports { discarding: libm::exp(found), inserting };
                let predicted = engset::ln_loss(&Trunk::new(trunk.0, trunk.1, trunk.2)?, load, ports);
                // A loss in its last bit moves the prediction by as much in each of the places.
                let error = (found - predicted).abs() / found.abs().max(1.0);
                assert!(
                    error < 1e-13 * (trunk.2 as f64 + 10.0),
                    "{} of {trunk:?} at {load}: {found} gives {predicted}",
                    model.name()
                );
            }
        }
        Ok(())
    }

    #[test]
    fn models_that_see_more_links_receiving_lose_less() -> Result<(), ParameterError> {
        for (trunk, load) in cases() {
            let [g1dm, ebd, ebi, eb] = [G1dm, Ebd, Ebi, Eb].map(|model| ln(model, trunk, load));
            let (g1dm, ebd, ebi, eb) = (g1dm?, ebd?, ebi?, eb?);
            let slack = 1e-12 * eb.abs().max(1.0);
            assert!(eb + slack >= ebd && ebd + slack >= g1dm && eb + slack >= ebi && ebi + slack >= g1dm, "{trunk:?} at {load}");
        }
        Ok(())
    }

    #[test]
    fn without_a_buffer_there_is_nothing_to_insert() -> Result<(), ParameterError> {
        for (inputs, transmitters) in [(2, 1), (16, 2), (80, 20), (3000, 1000)] {
            for load in [0.01, 0.5, 1.0, 1.5] {
                let trunk = (inputs, transmitters, 0);
                assert_eq!(ln(G1dm, trunk, load)?, ln(Ebd, trunk, load)?);
                assert_eq!(ln(Ebi, trunk, load)?, ln(Eb, trunk, load)?);
            }
        }
        Ok(())
    }

    #[test]
    fn loss_grows_with_the_load_and_shrinks_with_the_buffer() -> Result<(), ParameterError> {
        for model in LossModel::ALL {
            let mut less = f64::NEG_INFINITY;
            for load in (1..160).map(|step| f64::from(step) / 20.0 - 0.01) {
                let more = ln(model, (16, 2, 10), load)?;
                assert!(more > less, "{} at {load}", model.name());
                less = more;
            }
        }
        // (3.10) spreads alpha over the buffer, so that in the models with inserting links a larger one may lose more in overload.
        for model in [Ebd, Eb, Mmkkb] {
            for load in [0.5, 1.0, 3.0] {
                let losses = [0, 1, 2, 5, 10, 100, 10_000].map(|buffer| ln(model, (16, 2, buffer), load));
                let losses = losses.into_iter().collect::<Result<Vec<_>, _>>()?;
                assert!(losses.windows(2).all(|pair| pair[1] <= pair[0] + 1e-12), "{} at {load}: {losses:?}", model.name());
            }
        }
        Ok(())
    }

    #[test]
    fn many_inputs_are_a_poisson_process() -> Result<(), ParameterError> {
        for load in [0.3, 0.9, 1.0, 1.2] {
            let poisson = ln(Mmkkb, (1_000_000, 2, 3), load)?;
            for model in [G1dm, Ebd, Ebi, Eb] {
                assert!((ln(model, (1_000_000, 2, 3), load)? - poisson).abs() < 1e-4, "{} at {load}", model.name());
            }
        }
        Ok(())
    }

    #[test]
    fn poisson_arrivals_lose_what_the_queue_of_that_name_loses() -> Result<(), ParameterError> {
        for (trunk, load) in cases() {
            let queue = mmck(Load::new(load)?, Servers::new(trunk.1)?, Places::new(trunk.1 + trunk.2)?).loss;
            if queue > 1e-280 {
                assert!((loss(Mmkkb, trunk, load)? / queue - 1.0).abs() < 1e-11, "{trunk:?} at {load}");
            }
        }
        Ok(())
    }

    #[test]
    fn overload_loses_what_does_not_fit() -> Result<(), ParameterError> {
        // (3.16), (3.18): 1 - 1/rho; (3.17): too much by M / (M - K).
        for load in [1.5, 2.5] {
            let excess = 1.0 - 1.0 / load;
            for (model, near) in [(G1dm, 1e-4), (Ebd, 1e-12), (Mmkkb, 1e-12)] {
                let found = loss(model, (500, 2, 1000), load)?;
                assert!((found / excess - 1.0).abs() < near, "{} at {load}: {found}", model.name());
            }
            assert!((loss(Eb, (16, 2, 1000), load)? / excess - 16.0 / 14.0).abs() < 1e-12);
            assert!((loss(Ebd, (16, 2, 1000), load)? / excess - 1.0).abs() < 1e-12);
        }
        Ok(())
    }

    #[test]
    fn losses_below_any_float_and_buffers_of_a_million() -> Result<(), ParameterError> {
        // EB above K is geometric with (M - K) load / (M - K load) per place: 14 * 0.5 / 15.
        let (small, large) = (ln(Eb, (16, 2, 1_000), 0.5)?, ln(Eb, (16, 2, 1_000_000), 0.5)?);
        assert!((large - small - 999_000.0 * libm::log(7.0 / 15.0)).abs() < 1e-4, "{small} {large}");
        for model in LossModel::ALL {
            let found = ln(model, (2000, 1000, 1_000_000), 0.999)?;
            assert!(found.is_finite() && found < -1000.0, "{}: {found}", model.name());
        }
        Ok(())
    }

    #[test]
    fn no_load_or_a_channel_for_every_input_loses_nothing() -> Result<(), ParameterError> {
        for model in LossModel::ALL {
            assert_eq!(ln(model, (16, 2, 3), 0.0)?, f64::NEG_INFINITY);
        }
        for model in [G1dm, Ebd, Ebi, Eb, Ebl] {
            assert_eq!(ln(model, (4, 4, 0), 0.99)?, f64::NEG_INFINITY);
            assert_eq!(ln(model, (4, 9, 5), 0.3)?, f64::NEG_INFINITY);
        }
        Ok(())
    }

    #[test]
    fn what_does_not_fit_is_refused_by_name() {
        let refused = |trunk: (u64, u64, u64), load| ln(G1dm, trunk, load).map_err(|error| error.name);
        assert_eq!(refused((0, 1, 0), 0.5), Err("inputs"));
        assert_eq!(refused((4, 0, 0), 0.5), Err("transmitters"));
        assert_eq!(refused((4, 1, 2_000_000_000), 0.5), Err("buffer"));
        for load in [-0.1, 4.0, 5.0, f64::NAN, f64::INFINITY, 1e-201] {
            assert_eq!(refused((4, 1, 2), load), Err("load"), "{load}");
        }
        let shown = ln(G1dm, (16, 2, 0), 8.0).map_err(|error| error.to_string());
        let expected =
            "`load` is 8; expected 0, or 1e-200 up to but not 8 (inputs / transmitters, where no input link is ever idle)";
        assert_eq!(shown, Err(expected.to_string()));
        assert_eq!(LossModel::named("ebd"), Ok(Ebd));
        assert_eq!(LossModel::named("edb").map_err(|error| error.name), Err("model"));
    }
}
