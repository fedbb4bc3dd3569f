//! The interface of a policy: what it decides about, and its decisions.

use crate::price::PriceMeaning;
use crate::primitives::random::Stream;
use crate::primitives::rm_cell::RmCell;
use crate::primitives::signal::{PriceHeader, Signal};
use crate::primitives::token_bucket::BucketSpec;
use crate::primitives::units::{Bytes, Rate, Time, TimeDelta, Units};
use crate::settings::QueueLength;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// A policy's decision about a unit. An accepted unit is still refused if there is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Accept,
    /// Signal congestion to the sender (RFC 3168). The port discards a unit that cannot carry the mark.
    Mark,
    Discard(DropReason),
}

/// Why a unit was discarded. Each reason has its own counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum DropReason {
    /// There was no room.
    Full,
    /// The policy refused the unit although there was room.
    Early,
    /// The policy had accepted the unit and discarded it when its turn to be sent came; or its queue, one of several, had to make room.
    Late,
    /// The unit belongs to a frame that has already lost a cell here.
    Partial,
    /// First cell of the one packet that SPD discards when a queue builds up.
    Single,
    /// Random loss on the link.
    Random,
    /// Listed in the scenario.
    Listed,
    /// The unit exceeded the rate of a token bucket.
    Policed,
    /// The packet was larger than the link's MTU. Fragments do not exist: all packets have the DF bit of RFC 791.
    AboveMtu,
}

impl DropReason {
    /// All reasons, in the order of their numbers.
    pub const ALL: [DropReason; 9] = [
        DropReason::Full,
        DropReason::Early,
        DropReason::Late,
        DropReason::Partial,
        DropReason::Single,
        DropReason::Random,
        DropReason::Listed,
        DropReason::Policed,
        DropReason::AboveMtu,
    ];

    /// Name in columns.
    pub fn name(self) -> &'static str {
        ["full", "early", "late", "partial", "single", "random", "listed", "policed", "mtu"][self as usize]
    }

    /// Whether units discarded for this reason had been accepted before.
    pub(crate) fn follows_acceptance(self) -> bool {
        matches!(self, DropReason::Late | DropReason::Random)
    }
}

/// Properties of the arriving unit, a packet or a cell, that a policy may use.
#[derive(Clone, Copy, Debug)]
pub struct Unit {
    pub bytes: Bytes,
    /// The unit is the last cell of its frame, the only position that AAL5 marks. A packet is its own frame.
    pub is_last: bool,
}

/// Buffer occupancy when a unit arrives. The unit in service is included only where the port counts it.
#[derive(Clone, Copy, Debug)]
pub struct Occupancy {
    /// Packets or cells.
    pub units: Units,
    pub bytes: Bytes,
    /// Packets or cells of the arriving unit's flow (VC).
    pub of_flow: Units,
    /// Flows (VCs) whose route crosses the port.
    pub flows: u32,
    /// Flows (VCs) with units in the buffer.
    pub backlogged: u32,
    /// Whether the port has room for the unit.
    pub has_room: bool,
    /// Time for which the port has been idle; zero while it sends.
    pub idle: TimeDelta,
    /// Rate of the port, summed over all transmitters.
    pub rate: Rate,
}

#[cfg(test)]
impl Occupancy {
    /// A buffer with room at a busy port of 8 Mbit/s, where 1000 bytes take 1 ms.
    pub(crate) fn of(units: Units, bytes: Bytes) -> Occupancy {
        let (idle, rate) = (TimeDelta::ZERO, Rate(8_000_000));
        Occupancy { units, bytes, of_flow: Units(0), flows: 0, backlogged: 0, has_room: true, idle, rate }
    }
}

/// State of a queue at the end of a period.
#[derive(Clone, Copy, Debug)]
pub struct PeriodEnd {
    /// Packets or cells. The unit in service is included only where the port counts it.
    pub units: Units,
    pub bytes: Bytes,
    /// Rate of the port, summed over all transmitters.
    pub rate: Rate,
    /// Wait of the first unit, for a queue that shares the port with others; zero if it is empty.
    pub first_waited: Option<TimeDelta>,
}

impl PeriodEnd {
    /// Queueing delay in seconds: the time to send the queue, or the wait of its first unit where other queues are served in between.
    pub(crate) fn delay(&self) -> f64 {
        self.first_waited.map_or_else(|| self.bytes.0 as f64 * 8.0 / self.rate.0 as f64, TimeDelta::seconds)
    }
}

/// A unit that is due to be sent.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    pub now: Time,
    pub sojourn_time: TimeDelta,
    /// Bytes queued behind the unit.
    pub bytes_behind: Bytes,
    /// Whether the unit can carry a mark (RFC 3168).
    pub is_capable: bool,
}

/// When a policy begins to act. A description of a network is checked against it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Onset {
    /// Delay at which the policy aims: its setting `target`.
    pub target: Option<TimeDelta>,
    /// Time for which the delay has to exceed the target before: its setting `interval`.
    pub interval: Option<TimeDelta>,
    /// Queue length below which it does not act.
    pub threshold: Option<OnsetThreshold>,
}

/// A queue length, and the name of the setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnsetThreshold {
    pub setting: &'static str,
    pub length: QueueLength,
}

/// A queue policy. It decides and does not store units.
pub trait Policy {
    /// Policy state per flow (VC). The port stores it with the flow's occupancy.
    type PerFlow: Clone + Debug + Default + Serialize + DeserializeOwned;

    /// Whether the policy uses per-flow state. If not, the port stores none.
    const TRACKS_FLOWS: bool = true;

    /// Whether the policy discards whole frames and therefore requires VCs.
    const DISCARDS_FRAMES: bool = false;

    /// Whether the policy accepts every unit, so that the port need not consult it.
    const ACCEPTS_ALL: bool = false;

    /// The bucket to which units conform, if the policy polices.
    fn bucket(&self) -> Option<BucketSpec> {
        None
    }

    /// When the policy begins to act.
    fn onset(&self) -> Onset {
        Onset::default()
    }

    /// The share of the link's rate that the policy assigns to sources, if it handles RM cells.
    fn assigned_share(&self) -> Option<f64> {
        None
    }

    /// Whether the policy only marks, and discards units that cannot carry the mark.
    const ONLY_MARKS: bool = false;

    /// Whether the policy may draw random numbers. Without draws, results do not depend on the seed.
    const IS_RANDOM: bool = true;

    /// Whether the policy handles RM cells and therefore requires VCs with an assigned rate.
    const PROCESSES_RM: bool = false;

    /// Whether [`Policy::on_departure`], [`Policy::on_signal`] or [`Policy::on_period`] does anything. The port is stepped then, because
    /// their effects cannot be computed on arrival.
    const IS_STEPPED: bool = false;

    /// Whether [`Policy::on_signal`] does anything, other than at a port that publishes prices.
    const WRITES_SIGNALS: bool = false;

    /// Kind of price that the policy reports, if any.
    const PRICE_MEANING: Option<PriceMeaning> = None;

    /// Sets the stream of random numbers.
    fn draw_from(&mut self, _stream: Stream) {}

    fn on_arrival(&mut self, unit: &Unit, flow: &mut Self::PerFlow, buffer: &Occupancy, now: Time) -> Verdict;

    /// Decides about a unit that is due. Units discarded here count as [`DropReason::Late`].
    fn on_departure(&mut self, _unit: &Unit, _departure: &Departure) -> Verdict {
        Verdict::Accept
    }

    /// May rewrite the signal of a unit that [`Policy::on_departure`] has released, before it is sent: its mark, which a policy may also
    /// clear as RAM does, and its price. A signal that the unit has no room for is lost.
    fn on_signal(&mut self, _unit: &Unit, _departure: &Departure, _signal: &mut Signal) {}

    /// A packet whose sender uses prices has arrived, whether or not it is accepted. Only for policies that report prices.
    fn on_price_header(&mut self, _unit: &Unit, _header: &PriceHeader) {}

    /// This queue, one of several, had to make room for an arrival at another queue or at itself.
    fn on_overflow(&mut self, _now: Time) {}

    /// The present price. Only for policies that report prices.
    fn price(&self) -> Option<f64> {
        None
    }

    /// Writes feedback that is not a price into the header of a packet that is due. Only for policies that report prices.
    fn write_price_header(&mut self, _unit: &Unit, _header: &mut PriceHeader) {}

    /// The network has guaranteed this rate to a flow (VC).
    fn guarantee(_flow: &mut Self::PerFlow, _rate: Rate) {}

    /// A forward RM cell of the flow (VC) has arrived. It is also counted by [`Policy::on_arrival`], whose verdict is then ignored.
    fn on_forward_rm(&mut self, _flow: &mut Self::PerFlow, _rm: &RmCell) {}

    /// Upper bound of the explicit rate in a forward RM cell of the flow (VC) that is due, if there is one. Only for policies that handle
    /// RM cells.
    fn explicit_rate(&mut self, _flow: &mut Self::PerFlow) -> Option<Rate> {
        None
    }

    /// Period of [`Policy::on_period`].
    fn period(&self) -> Option<TimeDelta> {
        None
    }

    fn on_period(&mut self, _end: &PeriodEnd) {}
}
