//! Queue policies, one file each, behind one interface: a policy decides, the port stores, counts and refuses what does not fit.

mod drop_tail;

use crate::base::units::Time;
use drop_tail::DropTail;
use serde::{Deserialize, Serialize};

/// What a policy decides of one arriving unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Accept,
    /// Refuse although there may be room.
    Discard,
}

/// The arriving unit, as far as a policy may know it.
#[derive(Clone, Copy, Debug)]
pub struct Unit {
    pub flow: u32,
    pub bytes: u32,
}

/// What the buffer holds when a unit arrives. The unit in service is included only where the port counts it.
#[derive(Clone, Copy, Debug)]
pub struct Occupancy {
    pub packets: u64,
    pub bytes: u64,
    /// The port would refuse the unit.
    pub full: bool,
}

/// A queue policy. Decides; does not store.
pub trait Policy {
    fn on_arrival(&mut self, unit: &Unit, buffer: &Occupancy, now: Time) -> Verdict;
}

/// Names, settings and dispatch, from one list: a new policy is its file and one line here.
macro_rules! policies {
    ($($name:literal => $variant:ident($spec:ty, $state:ty)),+ $(,)?) => {
        /// Names as a scenario writes them.
        pub const POLICY_NAMES: &[&str] = &[$($name),+];

        /// A policy's settings.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub enum PolicySpec { $($variant($spec)),+ }

        /// A policy at work.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(crate) enum Policies { $($variant($state)),+ }

        impl Policies {
            pub(crate) fn new(spec: &PolicySpec) -> Policies {
                match spec { $(PolicySpec::$variant(spec) => Policies::$variant(<$state>::new(spec))),+ }
            }

            #[inline]
            pub(crate) fn on_arrival(&mut self, unit: &Unit, buffer: &Occupancy, now: Time) -> Verdict {
                match self { $(Policies::$variant(policy) => policy.on_arrival(unit, buffer, now)),+ }
            }
        }
    };
}

policies! {
    "drop_tail" => DropTail((), DropTail),
}
