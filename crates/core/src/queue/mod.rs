//! Queue policies, one file each, behind one interface: a policy decides, the port stores, counts and refuses what does not fit.

mod bpd;
mod drop_tail;
mod epd;
mod epd_per_vc;
mod flow_records;
mod frame;
#[cfg(test)]
mod model_buffer;
mod ppd;
mod spd;

pub use bpd::BpdSpec;
pub use epd::EpdSpec;
pub use epd_per_vc::{ActiveVcs, EpdPerVcSpec};
pub use spd::{SpdReading, SpdSpec};

use crate::base::units::Time;
use bpd::Bpd;
use drop_tail::DropTail;
use epd::Epd;
use epd_per_vc::EpdPerVc;
use flow_records::FlowRecords;
use ppd::Ppd;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use spd::Spd;
use std::fmt::Debug;

/// What a policy decides of one arriving unit. A unit that is accepted is refused all the same where there is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Accept,
    Discard(Reason),
}

/// Why a unit was discarded. Each is counted under its own name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Reason {
    /// There was no room.
    Full,
    /// The policy refused it although there was room.
    Early,
    /// It belongs to a frame of which a cell has been discarded here.
    Partial,
    /// The one packet that SPD takes of a queue that builds up: its first cell.
    Single,
    /// The wire lost it.
    Random,
    /// The scenario lists it.
    Listed,
}

impl Reason {
    /// All of them, in the order of their numbers.
    pub const ALL: [Reason; 6] = [Reason::Full, Reason::Early, Reason::Partial, Reason::Single, Reason::Random, Reason::Listed];

    /// As columns name it.
    pub fn name(self) -> &'static str {
        ["full", "early", "partial", "single", "random", "listed"][self as usize]
    }
}

/// The arriving unit, a packet or a cell, as far as a policy may know it.
#[derive(Clone, Copy, Debug)]
pub struct Unit {
    pub bytes: u32,
    /// The last cell of its frame, which is all that AAL5 marks. A packet is its own frame.
    pub is_last: bool,
}

/// What the buffer holds when a unit arrives. The unit in service is included only where the port counts it.
#[derive(Clone, Copy, Debug)]
pub struct Occupancy {
    /// Packets or cells.
    pub units: u64,
    pub bytes: u64,
    /// Of the arriving unit's flow (VC), packets or cells.
    pub of_flow: u32,
    /// Flows (VCs) whose route crosses the port.
    pub flows: u32,
    /// Flows (VCs) of which the buffer holds something.
    pub backlogged: u32,
    /// The port would take the unit.
    pub has_room: bool,
}

/// A queue policy. Decides; does not store.
pub trait Policy {
    /// What it remembers of each flow (VC). The port keeps it, beside the flow's occupancy.
    type PerFlow: Clone + Debug + Default + Serialize + DeserializeOwned;

    /// Whether it looks at flows at all: if not, the port keeps nothing of them.
    const SEES_FLOWS: bool = true;

    /// Whether it takes whatever fits, so that the port need not ask.
    const TAKES_ALL: bool = false;

    fn on_arrival(&mut self, unit: &Unit, flow: &mut Self::PerFlow, buffer: &Occupancy, now: Time) -> Verdict;
}

/// Names, settings and dispatch, from one list: a new policy is its file and one line here.
macro_rules! policies {
    ($($name:literal => $variant:ident($spec:ty, $state:ty)),+ $(,)?) => {
        /// Names as a scenario writes them.
        pub const POLICY_NAMES: &[&str] = &[$($name),+];

        /// A policy's settings.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub enum PolicySpec { $($variant($spec)),+ }

        impl PolicySpec {
            /// Whether the policy looks at flows.
            pub(crate) fn sees_flows(&self) -> bool {
                match self { $(PolicySpec::$variant(_) => <$state>::SEES_FLOWS),+ }
            }
        }

        /// A policy at work, and what the port keeps of each flow for it.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(crate) enum Policies { $($variant($state, FlowRecords<<$state as Policy>::PerFlow>)),+ }

        impl Policies {
            /// `flows`: the flows whose route crosses the port, ascending.
            pub(crate) fn new(spec: &PolicySpec, flows: &[u32]) -> Policies {
                match spec { $(PolicySpec::$variant(spec) => {
                    let flows = if <$state>::SEES_FLOWS { flows } else { &[] };
                    Policies::$variant(<$state>::new(spec), FlowRecords::new(flows))
                }),+ }
            }

            /// Whether it takes whatever fits.
            pub(crate) fn takes_all(&self) -> bool {
                match self { $(Policies::$variant(..) => <$state>::TAKES_ALL),+ }
            }

            /// `buffer` without what it holds of flows, which is filled in here.
            #[inline]
            pub(crate) fn on_arrival(&mut self, unit: &Unit, flow: u32, mut buffer: Occupancy, now: Time) -> Verdict {
                match self { $(Policies::$variant(policy, records) => {
                    if !<$state>::SEES_FLOWS {
                        return policy.on_arrival(unit, &mut Default::default(), &buffer, now);
                    }
                    let record = records.describe(flow, &mut buffer);
                    policy.on_arrival(unit, record, &buffer, now)
                }),+ }
            }

            /// A unit of the flow has been stored.
            #[inline]
            pub(crate) fn on_stored(&mut self, flow: u32) {
                match self { $(Policies::$variant(_, records) => if <$state>::SEES_FLOWS { records.add(flow) }),+ }
            }

            /// A unit of the flow has left the buffer.
            #[inline]
            pub(crate) fn on_left(&mut self, flow: u32) {
                match self { $(Policies::$variant(_, records) => if <$state>::SEES_FLOWS { records.remove(flow) }),+ }
            }
        }
    };
}

policies! {
    "drop_tail" => DropTail((), DropTail),
    "ppd" => Ppd((), Ppd),
    "epd" => Epd(EpdSpec, Epd),
    "epd_per_vc" => EpdPerVc(EpdPerVcSpec, EpdPerVc),
    "bpd" => Bpd(BpdSpec, Bpd),
    "spd" => Spd(SpdSpec, Spd),
}
