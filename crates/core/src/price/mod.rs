//! Price schemes, one file each: how a queue tells its price by a mark on each packet, and what a receiver concludes from the marks about the
//! price of the path. Both halves work on probes, one after another, and know no network: [`stream`] is all that it takes to try one.

mod average;
mod identification;
mod mapping;
pub mod stream;
mod way_back;

pub use identification::{Identification, Numbering};
pub use mapping::{Mapping, MappingKind};
pub(crate) use way_back::BitReader;

use crate::primitives::random::Draws;
use crate::primitives::signal::PriceHeader;
pub use crate::primitives::signal::Probe;
use crate::settings::{Named, family, words};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

words! {
    /// How a scheme combines the prices of a path.
    pub enum Combination ("combination") {
        /// The largest price, as max-min fairness requires.
        Largest = "largest",
        /// The sum of the prices, as utility maximisation requires.
        Sum = "sum",
    }
}

words! {
    /// How the receiver returns the price to the sender.
    pub enum WayBack ("price feedback") {
        /// As a number in each acknowledgement.
        Exact = "exact",
        /// As one bit in each acknowledgement (CWR, which pure acknowledgements do not use), compared with a threshold known to both ends:
        /// ADPM applied again (cui-thesis section 5.3.1).
        OneBit = "one_bit",
    }
}

/// What a price is of: those who tell it and those who go by it have to mean the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The congestion cost of MaxNet, of which the largest of a path counts.
    Cost,
    /// The price of REM, of which the sum of a path counts.
    Marginal,
    /// One over the rate of RCP, in seconds per bit, of which the largest of a path counts.
    Rate,
    /// CLAMP's multiple of a wait, in seconds, of which the sum of a path counts.
    Wait,
    /// XCP's change of the rate, which is no price and travels as a number only.
    Feedback,
}

impl Meaning {
    /// How those of a path count together.
    pub fn combines(self) -> Combination {
        match self {
            Meaning::Marginal | Meaning::Wait => Combination::Sum,
            Meaning::Cost | Meaning::Rate | Meaning::Feedback => Combination::Largest,
        }
    }

    /// In messages.
    pub fn noun(self) -> &'static str {
        match self {
            Meaning::Cost => "a congestion cost",
            Meaning::Marginal => "a marginal cost",
            Meaning::Rate => "one over a rate",
            Meaning::Wait => "a wait",
            Meaning::Feedback => "a change of the rate",
        }
    }
}

/// A price between 0 and 1, as schemes tell it ([`Mapping`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
pub struct Mapped(pub f64);

/// A mapped price as a scheme's queues go by it: worked out when the price changes, and not for each packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Told(pub f64);

/// A price scheme. Its settings are common to all queues and receivers.
pub trait Scheme {
    /// What a receiver remembers of a flow.
    type Estimator: Clone + Debug + Default + Serialize + DeserializeOwned;

    /// What it tells of the prices of a path.
    const COMBINES: Combination;

    /// Whether what a packet asks follows from its identification.
    const ASKS: bool;

    /// How many mapped prices receivers can tell apart, at best.
    fn resolution(&self) -> f64;

    /// After how many packets of a flow everything has been asked once, where no part of it will do.
    fn cycle(&self) -> u32 {
        0
    }

    /// The most queues of a path that it tells apart.
    fn most_hops(&self) -> u8 {
        u8::MAX
    }

    /// What a receiver remembers before the first probe.
    fn begin(&self) -> Self::Estimator {
        Self::Estimator::default()
    }

    /// What a queue goes by as long as it has this price: the price itself, unless a scheme says otherwise.
    fn told(&self, price: Mapped) -> Told {
        Told(price.0)
    }

    /// A queue has this price: mark the probe, leave its mark or take it off.
    fn mark(&self, probe: &mut Probe, price: Told, draws: &mut Draws);

    /// A probe has arrived.
    fn learn(&self, estimator: &mut Self::Estimator, probe: &Probe);

    /// After at least one probe: the largest price, or the sum of the prices.
    fn estimate(&self, estimator: &Self::Estimator) -> f64;
}

/// Settings, states and dispatch, from one list: a new scheme is its file and one line here. `exact` has no probes: a number travels.
macro_rules! schemes {
    ($($module:ident::$member:ident,)+) => {
        mod exact;
        pub use exact::*;
        $(mod $module; pub use $module::*;)+

        family!(SchemeSpec { Exact, $($member),+ } nameless {});

        /// A scheme's settings, and the scheme.
        #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
        pub enum SchemeSpec { Exact(<Exact as Named>::Spec), $($member(<$member as Named>::Spec)),+ }

        impl SchemeSpec {
            /// What it tells of the prices of a path; `None`: whatever is wanted.
            pub fn combines(&self) -> Option<Combination> {
                match self {
                    SchemeSpec::Exact(()) => None,
                    $(SchemeSpec::$member(_) => Some(<<$member as Named>::Spec as Scheme>::COMBINES)),+
                }
            }

            /// Whether what a packet asks follows from its identification.
            pub fn asks(&self) -> bool {
                match self {
                    SchemeSpec::Exact(()) => false,
                    $(SchemeSpec::$member(_) => <<$member as Named>::Spec as Scheme>::ASKS),+
                }
            }

            /// How many mapped prices receivers can tell apart, at best: of numbers as many as the way back can.
            pub fn resolution(&self) -> f64 {
                match self {
                    SchemeSpec::Exact(()) => f64::from(1 << 16),
                    $(SchemeSpec::$member(scheme) => scheme.resolution()),+
                }
            }

            /// After how many packets of a flow everything has been asked once, where no part of it will do.
            pub fn cycle(&self) -> u32 {
                match self {
                    SchemeSpec::Exact(()) => 0,
                    $(SchemeSpec::$member(scheme) => scheme.cycle()),+
                }
            }

            /// The most queues of a path that it tells apart.
            pub fn most_hops(&self) -> u8 {
                match self {
                    SchemeSpec::Exact(()) => u8::MAX,
                    $(SchemeSpec::$member(scheme) => scheme.most_hops()),+
                }
            }

            /// See [`Scheme::told`].
            pub fn told(&self, price: Mapped) -> Told {
                match self {
                    SchemeSpec::Exact(()) => Told(price.0),
                    $(SchemeSpec::$member(scheme) => scheme.told(price)),+
                }
            }

            /// See [`Scheme::mark`]; `exact` marks nothing.
            #[inline]
            pub fn mark(&self, probe: &mut Probe, price: Told, draws: &mut Draws) {
                match self {
                    SchemeSpec::Exact(()) => {}
                    $(SchemeSpec::$member(scheme) => scheme.mark(probe, price, draws)),+
                }
            }

            /// What a receiver knows before the first probe.
            pub fn estimator(&self) -> Estimators {
                match self {
                    SchemeSpec::Exact(()) => Estimators::Exact,
                    $(SchemeSpec::$member(scheme) => Estimators::$member(scheme.begin())),+
                }
            }

            /// See [`Scheme::learn`].
            #[inline]
            pub fn learn(&self, estimator: &mut Estimators, probe: &Probe) {
                match (self, estimator) {
                    $((SchemeSpec::$member(scheme), Estimators::$member(estimator)) => scheme.learn(estimator, probe),)+
                    _ => {}
                }
            }

            /// See [`Scheme::estimate`]; 0 of `exact`, which has nothing to estimate.
            pub fn estimate(&self, estimator: &Estimators) -> f64 {
                match (self, estimator) {
                    $((SchemeSpec::$member(scheme), Estimators::$member(estimator)) => scheme.estimate(estimator),)+
                    _ => 0.0,
                }
            }
        }

        /// What a receiver remembers of a flow.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub enum Estimators { Exact, $($member(<<$member as Named>::Spec as Scheme>::Estimator)),+ }

        $(const _: () = assert!(size_of::<<<$member as Named>::Spec as Scheme>::Estimator>() <= 32, "at most 32 bytes a flow");)+
    };
}

schemes! {
    adpm::Adpm,
    rem::RemMarks,
    ram::Ram,
    tpm::Tpm,
    rpm::Rpm,
}

/// How prices travel through a network: the same for all its queues and ends, which have to agree.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PriceSpec {
    pub scheme: SchemeSpec,
    /// From a queue's price to 0 to 1. `exact` has none.
    pub mapping: Mapping,
    pub identification: Identification,
    pub way_back: WayBack,
}

impl Default for PriceSpec {
    fn default() -> PriceSpec {
        PriceSpec {
            scheme: SchemeSpec::Exact(()),
            mapping: Mapping::UNIT,
            identification: Identification::Counting,
            way_back: WayBack::Exact,
        }
    }
}

impl PriceSpec {
    /// What a receiver concludes of the price of the path from a packet with this header.
    pub(crate) fn heard(&self, estimator: &mut Estimators, header: &PriceHeader) -> Option<f64> {
        // What no queue has seen says nothing.
        if header.probe.hops == 0 {
            return None;
        }
        self.scheme.learn(estimator, &header.probe);
        Some(self.mapping.price(Mapped(self.scheme.estimate(estimator))))
    }

    /// What queues go by as long as they have this price.
    pub(crate) fn told(&self, price: f64) -> Told {
        self.scheme.told(self.mapping.mapped(price))
    }

    /// Whether prices beyond the mapping's range are told as its end, by packets or on the way back.
    pub fn has_range(&self) -> bool {
        self.is_marked() || self.way_back == WayBack::OneBit
    }

    /// Whether packets carry marks instead of numbers.
    pub fn is_marked(&self) -> bool {
        !matches!(self.scheme, SchemeSpec::Exact(()))
    }
}

#[cfg(test)]
mod tests {
    use super::stream::{Change, Path, Sequence};
    use super::*;

    #[test]
    fn every_scheme_finds_the_price_of_one_queue_and_of_three_and_follows_a_step() {
        for scheme in SchemeSpec::samples().into_iter().filter(|scheme| scheme.combines().is_some()) {
            for identification in [Identification::Counting, Identification::Random, Identification::Checksum] {
                for prices in [&[0.3][..], &[0.1, 0.6, 0.25], &[0.0, 0.0]] {
                    let path = Path { prices: prices.to_vec(), change: Change::Step { at: 60_000, to: 0.9 } };
                    let found = Sequence { identification, seed: 1 }.estimates(&scheme, &path, 0, &[60_000, 300_000]);
                    let off = |estimate: &stream::Estimate| (estimate.estimate - estimate.price).abs();
                    assert!(
                        found.iter().all(|estimate| off(estimate) < 0.1),
                        "{scheme:?} {identification:?} {prices:?}: {found:?}"
                    );
                }
            }
        }
    }
}
