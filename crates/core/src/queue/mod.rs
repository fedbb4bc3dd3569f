//! Queue policies, one file each, behind one interface: a policy decides, the port stores, counts and refuses what does not fit.

mod support;

#[cfg(test)]
pub(crate) use support::probe;
pub use support::user_policy::UserPolicy;

use crate::price::Meaning;
use crate::primitives::packet::Packet;
use crate::primitives::random::Stream;
use crate::primitives::rm_cell::RmCell;
use crate::primitives::signal::{PriceHeader, Signal};
use crate::primitives::units::{Bytes, Rate, Span, Time, Units};
use crate::settings::{Named, family};
use crate::user_code::{Failure, Instance, UserCode};
#[cfg(test)]
use probe::Probe;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use support::flow_records::FlowRecords;
use support::user_policy::User;

/// What a policy decides of one unit. A unit that is accepted is refused all the same where there is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Accept,
    /// Tell the sender of congestion (RFC 3168). The port discards a unit that cannot carry the mark.
    Mark,
    Discard(Reason),
}

/// Why a unit was discarded. Each is counted under its own name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Reason {
    /// There was no room.
    Full,
    /// The policy refused it although there was room.
    Early,
    /// The policy had let it in, and discarded it when its turn to be sent came; or its queue, one of several, had to make room.
    Late,
    /// It belongs to a frame of which a cell has been discarded here.
    Partial,
    /// The one packet that SPD takes of a queue that builds up: its first cell.
    Single,
    /// The wire lost it.
    Random,
    /// The scenario lists it.
    Listed,
    /// It came faster than a token bucket allows.
    Policed,
}

impl Reason {
    /// All of them, in the order of their numbers.
    pub const ALL: [Reason; 8] = [
        Reason::Full,
        Reason::Early,
        Reason::Late,
        Reason::Partial,
        Reason::Single,
        Reason::Random,
        Reason::Listed,
        Reason::Policed,
    ];

    /// As columns name it.
    pub fn name(self) -> &'static str {
        ["full", "early", "late", "partial", "single", "random", "listed", "policed"][self as usize]
    }

    /// What is discarded for it had been let in.
    pub(crate) fn follows_acceptance(self) -> bool {
        matches!(self, Reason::Late | Reason::Random)
    }
}

/// The arriving unit, a packet or a cell, as far as a policy may know it.
#[derive(Clone, Copy, Debug)]
pub struct Unit {
    pub bytes: Bytes,
    /// The last cell of its frame, which is all that AAL5 marks. A packet is its own frame.
    pub is_last: bool,
}

/// What the buffer holds when a unit arrives. The unit in service is included only where the port counts it.
#[derive(Clone, Copy, Debug)]
pub struct Occupancy {
    /// Packets or cells.
    pub units: Units,
    pub bytes: Bytes,
    /// Of the arriving unit's flow (VC), packets or cells.
    pub of_flow: Units,
    /// Flows (VCs) whose route crosses the port.
    pub flows: u32,
    /// Flows (VCs) of which the buffer holds something.
    pub backlogged: u32,
    /// The port would take the unit.
    pub has_room: bool,
    /// How long the port has had nothing to send; zero while it sends.
    pub idle: Span,
    /// At which it sends, all transmitters together.
    pub rate: Rate,
}

#[cfg(test)]
impl Occupancy {
    /// A buffer with room at a busy port of 8 Mbit/s, where 1000 bytes take 1 ms.
    pub(crate) fn of(units: Units, bytes: Bytes) -> Occupancy {
        let (idle, rate) = (Span::ZERO, Rate(8_000_000));
        Occupancy { units, bytes, of_flow: Units(0), flows: 0, backlogged: 0, has_room: true, idle, rate }
    }
}

/// What a queue holds at the end of a period.
#[derive(Clone, Copy, Debug)]
pub struct PeriodEnd {
    /// Packets or cells. The unit in service is included only where the port counts it.
    pub units: Units,
    pub bytes: Bytes,
    /// At which it sends, all transmitters together.
    pub rate: Rate,
    /// How long the first unit has waited, of a queue that shares the port with others; zero if it is empty.
    pub first_waited: Option<Span>,
}

impl PeriodEnd {
    /// Seconds that the queue delays: as long as what it holds takes to send, or, where others are served in between, as its first unit has
    /// waited.
    pub(crate) fn delay(&self) -> f64 {
        self.first_waited.map_or_else(|| self.bytes.0 as f64 * 8.0 / self.rate.0 as f64, Span::seconds)
    }
}

/// A unit whose turn to be sent has come.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    pub now: Time,
    pub waited: Span,
    /// What waits behind it.
    pub bytes_behind: Bytes,
    /// The unit can carry a mark (RFC 3168).
    pub is_capable: bool,
}

/// A queue policy. Decides; does not store.
pub trait Policy {
    /// What it remembers of each flow (VC). The port keeps it, beside the flow's occupancy.
    type PerFlow: Clone + Debug + Default + Serialize + DeserializeOwned;

    /// Whether it looks at flows at all: if not, the port keeps nothing of them.
    const SEES_FLOWS: bool = true;

    /// Whether it discards whole frames, so that it needs VCs to judge.
    const JUDGES_FRAMES: bool = false;

    /// Whether it takes whatever fits, so that the port need not ask.
    const TAKES_ALL: bool = false;

    /// Whether it may draw. Where nothing does, seeds make no difference.
    const DRAWS: bool = true;

    /// Whether it hears of RM cells, so that it needs VCs with a rate to tell.
    const HEARS_RM: bool = false;

    /// Whether [`Policy::on_departure`], [`Policy::on_signal`] or [`Policy::on_period`] does anything. The port is stepped then: none of them
    /// is known ahead.
    const IS_STEPPED: bool = false;

    /// Of what it tells prices, if it does.
    const TELLS: Option<Meaning> = None;

    /// Where its draws come from, if it takes any.
    fn draw_from(&mut self, _stream: Stream) {}

    fn on_arrival(&mut self, unit: &Unit, flow: &mut Self::PerFlow, buffer: &Occupancy, now: Time) -> Verdict;

    /// What is discarded here is discarded as [`Reason::Late`].
    fn on_departure(&mut self, _unit: &Unit, _turn: &Turn) -> Verdict {
        Verdict::Accept
    }

    /// A unit that [`Policy::on_departure`] lets go, marked by it or not, may have its signal rewritten before it is sent: any mark, which a
    /// policy may take off again as RAM does, and the price. What the unit has no room for is lost.
    fn on_signal(&mut self, _unit: &Unit, _turn: &Turn, _signal: &mut Signal) {}

    /// A packet whose sender goes by prices has arrived, be it let in or not. Only of policies that tell prices.
    fn on_price_header(&mut self, _unit: &Unit, _header: &PriceHeader) {}

    /// Its queue, one of several, had to make room for what came to another or to itself.
    fn on_overflow(&mut self, _now: Time) {}

    /// The price at present. Only of policies that tell prices.
    fn price(&self) -> Option<f64> {
        None
    }

    /// The turn of such a packet has come: what is to be told is no price, and is written here. Only of policies that tell prices.
    fn write_price_header(&mut self, _unit: &Unit, _header: &mut PriceHeader) {}

    /// A forward RM cell of the flow (VC) has arrived; it is counted as any unit by [`Policy::on_arrival`] as well, whose verdict then says
    /// nothing.
    fn on_forward_rm(&mut self, _flow: &mut Self::PerFlow, _rm: &RmCell) {}

    /// The turn of a forward RM cell of the flow (VC) has come: the most that it may ask for from here on, if there is a bound. Only of
    /// policies that hear of RM cells.
    fn explicit_rate(&mut self, _flow: &mut Self::PerFlow) -> Option<Rate> {
        None
    }

    /// How often [`Policy::on_period`] is wanted.
    fn period(&self) -> Option<Span> {
        None
    }

    fn on_period(&mut self, _end: &PeriodEnd) {}
}

/// Settings, states and dispatch, from one list: a new policy is its file and one line here. After the members come the policies that
/// have no name: user code, and the one of tests.
macro_rules! policies {
    ($($module:ident::$member:ident,)+ ; $($(#[$when:meta])? $nameless:ident($code:ty),)+) => {
        $(mod $module; pub use $module::*;)+

        family!(PolicySpec { $($member),+ } nameless { $($(#[$when])? $nameless),+ });

        policies!($($member(<$member as Named>::Spec, $member),)+ $($(#[$when])? $nameless($code, $nameless),)+);
    };
    ($($(#[$when:meta])? $variant:ident($spec:ty, $state:ty),)+) => {
        /// A policy's settings.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub enum PolicySpec { $($(#[$when])? $variant($spec)),+ }

        impl PolicySpec {
            /// Whether the policy looks at flows.
            pub fn sees_flows(&self) -> bool {
                match self { $($(#[$when])? PolicySpec::$variant(_) => <$state>::SEES_FLOWS),+ }
            }

            /// Whether the policy discards whole frames, so that it needs VCs to judge.
            pub fn judges_frames(&self) -> bool {
                match self { $($(#[$when])? PolicySpec::$variant(_) => <$state>::JUDGES_FRAMES),+ }
            }

            /// Whether the policy may mark what can be marked: those that take whatever fits, discard whole frames, or tell rates do not.
            pub fn may_mark(&self) -> bool {
                match self { $($(#[$when])? PolicySpec::$variant(_) => !<$state>::TAKES_ALL && !<$state>::JUDGES_FRAMES && !<$state>::HEARS_RM),+ }
            }

            /// Whether the policy tells sources of an available bit rate service their rate.
            pub fn tells_rates(&self) -> bool {
                match self { $($(#[$when])? PolicySpec::$variant(_) => <$state>::HEARS_RM),+ }
            }

            /// Whether the policy may draw.
            pub fn draws(&self) -> bool {
                match self { $($(#[$when])? PolicySpec::$variant(_) => <$state>::DRAWS),+ }
            }

            /// Of what it tells prices, if it does.
            pub fn tells(&self) -> Option<Meaning> {
                match self { $($(#[$when])? PolicySpec::$variant(_) => <$state>::TELLS),+ }
            }

            /// Whether its port has to be stepped.
            pub(crate) fn is_stepped(&self) -> bool {
                match self { $($(#[$when])? PolicySpec::$variant(_) => <$state>::IS_STEPPED),+ }
            }
        }

        /// A policy at work, and what the port keeps of each flow for it.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(crate) enum Policies { $($(#[$when])? $variant($state, FlowRecords<<$state as Policy>::PerFlow>)),+ }

        impl Policies {
            /// `flows`: the flows whose route crosses the port, ascending. User code is not brought along here.
            pub(crate) fn new(spec: &PolicySpec, flows: &[u32], stream: Stream) -> Policies {
                match spec { $($(#[$when])? PolicySpec::$variant(spec) => {
                    let flows = if <$state>::SEES_FLOWS { flows } else { &[] };
                    let mut policy = <$state>::new(spec);
                    policy.draw_from(stream);
                    Policies::$variant(policy, FlowRecords::new(flows))
                }),+ }
            }

            /// Whether it takes whatever fits.
            pub(crate) fn takes_all(&self) -> bool {
                match self { $($(#[$when])? Policies::$variant(..) => <$state>::TAKES_ALL),+ }
            }

            /// `buffer` without what it holds of flows, which is filled in here.
            #[inline]
            pub(crate) fn on_arrival(&mut self, unit: &Unit, flow: u32, mut buffer: Occupancy, now: Time) -> Verdict {
                match self { $($(#[$when])? Policies::$variant(policy, records) => {
                    if !<$state>::SEES_FLOWS {
                        return policy.on_arrival(unit, &mut Default::default(), &buffer, now);
                    }
                    let record = records.describe(flow, &mut buffer);
                    policy.on_arrival(unit, record, &buffer, now)
                }),+ }
            }

            /// An RM cell has arrived, forth or back. Only those that hear of RM cells are asked about it at all.
            pub(crate) fn on_rm(&mut self, unit: &Unit, cell: &Packet, mut buffer: Occupancy) {
                match self { $($(#[$when])? Policies::$variant(policy, records) => if <$state>::HEARS_RM {
                    let record = records.describe(cell.flow, &mut buffer);
                    if !cell.is_ack() {
                        policy.on_forward_rm(record, &cell.rm());
                    }
                    policy.on_arrival(unit, record, &buffer, cell.time);
                }),+ }
            }

            /// The most that a forward RM cell may ask for, as its turn has come.
            pub(crate) fn explicit_rate(&mut self, flow: u32) -> Option<Rate> {
                match self { $($(#[$when])? Policies::$variant(policy, records) => {
                    if <$state>::HEARS_RM { policy.explicit_rate(records.state(flow)) } else { None }
                }),+ }
            }

            pub(crate) fn on_departure(&mut self, unit: &Unit, turn: &Turn) -> Verdict {
                match self { $($(#[$when])? Policies::$variant(policy, _) => policy.on_departure(unit, turn)),+ }
            }

            pub(crate) fn on_signal(&mut self, unit: &Unit, turn: &Turn, signal: &mut Signal) {
                match self { $($(#[$when])? Policies::$variant(policy, _) => policy.on_signal(unit, turn, signal)),+ }
            }

            pub(crate) fn on_price_header(&mut self, unit: &Unit, header: &PriceHeader) {
                match self { $($(#[$when])? Policies::$variant(policy, _) => policy.on_price_header(unit, header)),+ }
            }

            pub(crate) fn on_overflow(&mut self, now: Time) {
                match self { $($(#[$when])? Policies::$variant(policy, _) => policy.on_overflow(now)),+ }
            }

            pub(crate) fn price(&self) -> Option<f64> {
                match self { $($(#[$when])? Policies::$variant(policy, _) => policy.price()),+ }
            }

            pub(crate) fn write_price_header(&mut self, unit: &Unit, header: &mut PriceHeader) {
                match self { $($(#[$when])? Policies::$variant(policy, _) => policy.write_price_header(unit, header)),+ }
            }

            pub(crate) fn period(&self) -> Option<Span> {
                match self { $($(#[$when])? Policies::$variant(policy, _) => policy.period()),+ }
            }

            pub(crate) fn on_period(&mut self, end: &PeriodEnd) {
                match self { $($(#[$when])? Policies::$variant(policy, _) => policy.on_period(end)),+ }
            }

            /// A unit of the flow has been stored.
            #[inline]
            pub(crate) fn on_stored(&mut self, flow: u32) {
                match self { $($(#[$when])? Policies::$variant(_, records) => if <$state>::SEES_FLOWS { records.add(flow) }),+ }
            }

            /// A unit of the flow has left the buffer.
            #[inline]
            pub(crate) fn on_left(&mut self, flow: u32) {
                match self { $($(#[$when])? Policies::$variant(_, records) => if <$state>::SEES_FLOWS { records.remove(flow) }),+ }
            }
        }
    };
}

policies! {
    drop_tail::DropTail,
    ppd::Ppd,
    epd::Epd,
    epd_per_vc::EpdPerVc,
    bpd::Bpd,
    spd::Spd,
    erica::Erica,
    red::Red,
    codel::Codel,
    cobalt::Cobalt,
    pie::Pie,
    pi2::Pi2,
    rem::Rem,
    threshold::Threshold,
    ramp::Ramp,
    policer::Policer,
    clamp::Clamp,
    maxnet::MaxNet,
    rcp::Rcp,
    xcp::Xcp,
    ;
    #[cfg(test)]
    Probe(probe::ProbeSpec),
    User(UserCode),
}

impl Policies {
    /// A policy of a user. `flows`: those whose route crosses the port, ascending.
    pub(crate) fn user(policy: Instance<dyn UserPolicy>, flows: &[u32]) -> Policies {
        Policies::User(User::of(policy), FlowRecords::new(flows))
    }

    /// What became of user code.
    pub(crate) fn failure(&self, time: Time) -> Option<Failure> {
        if let Policies::User(policy, _) = self { policy.instance().failure(time) } else { None }
    }
}
