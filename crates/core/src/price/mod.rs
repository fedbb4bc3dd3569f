//! Price schemes, one file each. A queue encodes its price as a mark on each packet, and a receiver estimates the price of the path from
//! the marks. Both halves process a sequence of probes and are independent of the network; [`stream`] runs a scheme without one.

pub mod stream;
mod support;

pub use support::identification::{Identification, Numbering};
pub use support::mapping::{MappedPrice, Mapping, MappingKind};
pub use support::scheme::{Combination, Price, PriceMeaning, QueuePrice, Scheme};
pub(crate) use support::way_back::BitReader;

use crate::primitives::random::Draws;
use crate::primitives::signal::PriceHeader;
pub use crate::primitives::signal::Probe;
use crate::settings::{Named, family, words};
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

words! {
    /// How the receiver returns the price to the sender.
    pub enum Feedback ("price feedback") {
        /// As a number in each acknowledgement.
        Exact = "exact",
        /// As one bit in each acknowledgement (CWR, which pure acknowledgements do not use), compared with a threshold known to both ends:
        /// ADPM applied again (cui-thesis section 5.3.1).
        OneBit = "one_bit",
    }
}

/// Settings, states and dispatch, generated from one list: a new scheme is a file and one line here.
macro_rules! schemes {
    ($($module:ident::$member:ident,)+) => {
        $(mod $module; pub use $module::*;)+

        family!(SchemeSpec { $($member),+ } nameless {});

        /// A scheme with its settings.
        #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
        pub enum SchemeSpec { $($member(<$member as Named>::Spec)),+ }

        impl SchemeSpec {
            /// How the scheme combines the prices of a path; `None` if it supports both ways.
            pub fn combines(&self) -> Option<Combination> {
                match self { $(SchemeSpec::$member(_) => <<$member as Named>::Spec as Scheme>::COMBINES),+ }
            }

            /// Whether a packet's identification determines its test.
            pub fn uses_identification(&self) -> bool {
                match self { $(SchemeSpec::$member(_) => <<$member as Named>::Spec as Scheme>::USES_IDENTIFICATION),+ }
            }

            /// Maximum number of mapped prices that receivers can distinguish.
            pub fn resolution(&self) -> f64 {
                match self { $(SchemeSpec::$member(scheme) => scheme.resolution()),+ }
            }

            /// Number of packets of a flow after which every test has been made once, for schemes that need all of them; 0 for the others.
            pub fn cycle(&self) -> u32 {
                match self { $(SchemeSpec::$member(scheme) => scheme.cycle()),+ }
            }

            /// Maximum number of queues on a path that the scheme can distinguish.
            pub fn max_hops(&self) -> u8 {
                match self { $(SchemeSpec::$member(scheme) => scheme.max_hops()),+ }
            }

            /// See [`Scheme::queue_price`].
            pub fn queue_price(&self, price: MappedPrice) -> QueuePrice {
                match self { $(SchemeSpec::$member(scheme) => scheme.queue_price(price)),+ }
            }

            /// See [`Scheme::mark`].
            #[inline]
            pub fn mark(&self, probe: &mut Probe, price: QueuePrice, draws: &mut Draws) {
                match self { $(SchemeSpec::$member(scheme) => scheme.mark(probe, price, draws)),+ }
            }

            /// Receiver state before the first probe.
            pub fn estimator(&self) -> Estimators {
                match self { $(SchemeSpec::$member(scheme) => Estimators::$member(scheme.begin())),+ }
            }

            /// See [`Scheme::learn`].
            #[inline]
            pub fn learn(&self, estimator: &mut Estimators, probe: &Probe) {
                match (self, estimator) {
                    $((SchemeSpec::$member(scheme), Estimators::$member(estimator)) => scheme.learn(estimator, probe),)+
                    _ => {}
                }
            }

            /// See [`Scheme::estimate`]; 0 for `exact`, which has no estimate.
            pub fn estimate(&self, estimator: &Estimators) -> f64 {
                match (self, estimator) {
                    $((SchemeSpec::$member(scheme), Estimators::$member(estimator)) => scheme.estimate(estimator),)+
                    _ => 0.0,
                }
            }
        }

        /// Receiver state per flow.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub enum Estimators { $($member(<<$member as Named>::Spec as Scheme>::Estimator)),+ }

        $(const _: () = assert!(size_of::<<<$member as Named>::Spec as Scheme>::Estimator>() <= 32, "at most 32 bytes per flow");)+
    };
}

schemes! {
    exact::Exact,
    adpm::Adpm,
    rem::RemMarks,
    ram::Ram,
    tpm::Tpm,
    rpm::Rpm,
}

/// How prices are transmitted. All queues and ends of a network share these settings, because they have to agree.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PriceSpec {
    pub scheme: SchemeSpec,
    /// Mapping of a queue's price to 0 to 1. `exact` does not use it.
    pub mapping: Mapping,
    pub identification: Identification,
    pub feedback: Feedback,
}

impl Default for PriceSpec {
    fn default() -> PriceSpec {
        PriceSpec {
            scheme: SchemeSpec::Exact(()),
            mapping: Mapping::UNIT,
            identification: Identification::Counting,
            feedback: Feedback::Exact,
        }
    }
}

impl PriceSpec {
    /// Updates a receiver with this header and returns its estimate of the path's price.
    pub(crate) fn path_price(&self, estimator: &mut Estimators, header: &PriceHeader) -> Option<f64> {
        // A probe that has passed no queue carries no information.
        if header.probe.hops == 0 {
            return None;
        }
        self.scheme.learn(estimator, &header.probe);
        Some(self.mapping.price(MappedPrice(self.scheme.estimate(estimator))))
    }

    /// The form of this price that queues use for marking.
    pub(crate) fn queue_price(&self, price: f64) -> QueuePrice {
        self.scheme.queue_price(self.mapping.mapped(price))
    }

    /// Whether prices outside the mapping's range are clamped, in packets or on the return path.
    pub fn has_range(&self) -> bool {
        self.is_marked() || self.feedback == Feedback::OneBit
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
    fn every_scheme_estimates_the_price_of_one_and_three_queues_and_follows_a_step() {
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
