//! Queue policies, one file each, behind one interface. A policy decides; the port stores and counts units and refuses those that do not
//! fit.

mod support;

pub use support::policy::{Departure, DropReason, Occupancy, Onset, OnsetThreshold, PeriodEnd, Policy, Unit, Verdict};
#[cfg(test)]
pub(crate) use support::probe;
pub use support::user_policy::UserPolicy;

use crate::price::PriceMeaning;
use crate::primitives::ids::FlowId;
use crate::primitives::packet::Packet;
use crate::primitives::random::Stream;
use crate::primitives::signal::{PriceHeader, Signal};
use crate::primitives::token_bucket::BucketSpec;
use crate::primitives::units::{Rate, Time, TimeDelta};
use crate::settings::{Named, dispatch, family};
use crate::user_code::{Failure, UserCode, UserObject};
#[cfg(test)]
use probe::Probe;
use serde::{Deserialize, Serialize};
use support::flow_records::FlowRecords;
use support::user_policy::User;

/// Settings, states and dispatch, generated from one list: a new policy is a file and one line here. Policies without a name follow the
/// members: user code, and the policy for tests.
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
            /// Whether the policy uses per-flow state.
            pub fn tracks_flows(&self) -> bool {
                match self { $($(#[$when])? PolicySpec::$variant(_) => <$state>::TRACKS_FLOWS),+ }
            }

            /// Whether the policy accepts every unit that has room, so that only a full buffer discards.
            pub fn accepts_all(&self) -> bool {
                match self { $($(#[$when])? PolicySpec::$variant(_) => <$state>::ACCEPTS_ALL),+ }
            }

            /// The bucket to which units conform, if the policy polices.
            pub fn bucket(&self) -> Option<BucketSpec> {
                match self { $($(#[$when])? PolicySpec::$variant(spec) => <$state>::new(spec).bucket()),+ }
            }

            /// When the policy begins to act.
            pub fn onset(&self) -> Onset {
                match self { $($(#[$when])? PolicySpec::$variant(spec) => <$state>::new(spec).onset()),+ }
            }

            /// The share of the link's rate that the policy assigns to sources of an available bit rate service, if it does.
            pub fn assigned_share(&self) -> Option<f64> {
                match self { $($(#[$when])? PolicySpec::$variant(spec) => <$state>::new(spec).assigned_share()),+ }
            }

            /// Whether the policy only marks, and discards units that cannot carry the mark.
            pub fn only_marks(&self) -> bool {
                match self { $($(#[$when])? PolicySpec::$variant(_) => <$state>::ONLY_MARKS),+ }
            }

            /// Whether the policy discards whole frames and therefore requires VCs.
            pub fn discards_frames(&self) -> bool {
                match self { $($(#[$when])? PolicySpec::$variant(_) => <$state>::DISCARDS_FRAMES),+ }
            }

            /// Whether the policy may mark ECN-capable units. Policies that accept everything, discard whole frames or assign rates do not.
            pub fn may_mark(&self) -> bool {
                match self { $($(#[$when])? PolicySpec::$variant(_) => !<$state>::ACCEPTS_ALL && !<$state>::DISCARDS_FRAMES && !<$state>::PROCESSES_RM),+ }
            }

            /// Whether the policy assigns rates to sources of an available bit rate service.
            pub fn writes_explicit_rate(&self) -> bool {
                match self { $($(#[$when])? PolicySpec::$variant(_) => <$state>::PROCESSES_RM),+ }
            }

            /// Whether the policy may draw random numbers.
            pub fn draws(&self) -> bool {
                match self { $($(#[$when])? PolicySpec::$variant(_) => <$state>::IS_RANDOM),+ }
            }

            /// Kind of price that the policy reports, if any.
            pub fn price_meaning(&self) -> Option<PriceMeaning> {
                match self { $($(#[$when])? PolicySpec::$variant(_) => <$state>::PRICE_MEANING),+ }
            }

            /// Whether the policy's port has to be stepped.
            pub(crate) fn is_stepped(&self) -> bool {
                match self { $($(#[$when])? PolicySpec::$variant(_) => <$state>::IS_STEPPED),+ }
            }
        }

        /// Queues without a policy accept every unit that has room.
        impl Default for PolicySpec {
            fn default() -> PolicySpec {
                PolicySpec::DropTail(())
            }
        }

        /// A policy's state, and the port's per-flow records for it.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(crate) enum Policies { $($(#[$when])? $variant($state, FlowRecords<<$state as Policy>::PerFlow>)),+ }

        impl Policies {
            /// `flows`: the flows whose route crosses the port, ascending. User code is not loaded here.
            pub(crate) fn new(spec: &PolicySpec, flows: &[FlowId], stream: Stream) -> Policies {
                match spec { $($(#[$when])? PolicySpec::$variant(spec) => {
                    let flows = if <$state>::TRACKS_FLOWS { flows } else { &[] };
                    let mut policy = <$state>::new(spec);
                    policy.draw_from(stream);
                    Policies::$variant(policy, FlowRecords::new(flows))
                }),+ }
            }

            /// The policy that accepts every unit that fits. It has no state.
            pub(crate) fn drop_tail() -> Policies {
                Policies::DropTail(DropTail::new(&()), FlowRecords::new(&[]))
            }

            pub(crate) fn is_drop_tail(&self) -> bool {
                matches!(self, Policies::DropTail(..))
            }

            /// Whether the policy accepts every unit.
            pub(crate) fn accepts_all(&self) -> bool {
                match self { $($(#[$when])? Policies::$variant(..) => <$state>::ACCEPTS_ALL),+ }
            }

            /// Whether the policy uses per-flow state.
            pub(crate) fn tracks_flows(&self) -> bool {
                match self { $($(#[$when])? Policies::$variant(..) => <$state>::TRACKS_FLOWS),+ }
            }

            /// `buffer` without per-flow occupancy, which is filled in here.
            #[inline]
            pub(crate) fn on_arrival(&mut self, unit: &Unit, flow: FlowId, mut buffer: Occupancy, now: Time) -> Verdict {
                match self { $($(#[$when])? Policies::$variant(policy, records) => {
                    if !<$state>::TRACKS_FLOWS {
                        return policy.on_arrival(unit, &mut Default::default(), &buffer, now);
                    }
                    let record = records.describe(flow, &mut buffer);
                    policy.on_arrival(unit, record, &buffer, now)
                }),+ }
            }

            /// The network has guaranteed this rate to a flow whose route crosses the port.
            pub(crate) fn guarantee(&mut self, flow: FlowId, rate: Rate) {
                match self { $($(#[$when])? Policies::$variant(_, records) => if <$state>::PROCESSES_RM {
                    <$state>::guarantee(records.state(flow), rate);
                }),+ }
            }

            /// An RM cell has arrived, forward or backward. Policies that do not handle RM cells ignore it.
            pub(crate) fn on_rm(&mut self, unit: &Unit, cell: &Packet, mut buffer: Occupancy) {
                match self { $($(#[$when])? Policies::$variant(policy, records) => if <$state>::PROCESSES_RM {
                    let record = records.describe(cell.flow, &mut buffer);
                    if !cell.is_ack() {
                        policy.on_forward_rm(record, &cell.rm());
                    }
                    policy.on_arrival(unit, record, &buffer, cell.time);
                }),+ }
            }

            /// Upper bound of the explicit rate in a forward RM cell that is due.
            pub(crate) fn explicit_rate(&mut self, flow: FlowId) -> Option<Rate> {
                match self { $($(#[$when])? Policies::$variant(policy, records) => {
                    if <$state>::PROCESSES_RM { policy.explicit_rate(records.state(flow)) } else { None }
                }),+ }
            }

            /// Whether the policy writes on signals.
            pub(crate) fn writes_signals(&self) -> bool {
                match self { $($(#[$when])? Policies::$variant(..) => <$state>::WRITES_SIGNALS),+ }
            }

            dispatch! { [Policies: $($(#[$when])? $variant),+]
                pub(crate) fn on_departure(&mut self, unit: &Unit, departure: &Departure) -> Verdict;
                pub(crate) fn on_signal(&mut self, unit: &Unit, departure: &Departure, signal: &mut Signal);
                pub(crate) fn on_price_header(&mut self, unit: &Unit, header: &PriceHeader);
                pub(crate) fn on_overflow(&mut self, now: Time);
                pub(crate) fn price(&self) -> Option<f64>;
                pub(crate) fn write_price_header(&mut self, unit: &Unit, header: &mut PriceHeader);
                pub(crate) fn period(&self) -> Option<TimeDelta>;
                pub(crate) fn on_period(&mut self, end: &PeriodEnd);
            }

            /// A unit of the flow has been stored.
            #[inline]
            pub(crate) fn on_enqueue(&mut self, flow: FlowId) {
                match self { $($(#[$when])? Policies::$variant(_, records) => if <$state>::TRACKS_FLOWS { records.add(flow) }),+ }
            }

            /// A unit of the flow has left the buffer.
            #[inline]
            pub(crate) fn on_dequeue(&mut self, flow: FlowId) {
                match self { $($(#[$when])? Policies::$variant(_, records) => if <$state>::TRACKS_FLOWS { records.remove(flow) }),+ }
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
    /// A user's policy. `flows`: the flows whose route crosses the port, ascending.
    pub(crate) fn user(policy: UserObject<dyn UserPolicy>, flows: &[FlowId]) -> Policies {
        Policies::User(User::of(policy), FlowRecords::new(flows))
    }

    /// The failure of user code, if it has failed.
    pub(crate) fn failure(&self, time: Time) -> Option<Failure> {
        if let Policies::User(policy, _) = self { policy.instance().failure(time) } else { None }
    }
}
