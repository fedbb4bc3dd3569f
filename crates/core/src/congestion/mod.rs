//! Congestion controllers, one file each, behind one interface. A controller owns the window and, if the algorithm has one, the pacing
//! rate; loss recovery notifies it of events.

mod support;

pub use support::abilities::{Abilities, Subscriptions};
pub use support::controller::{Controller, Start};
pub use support::editions::Edition;
pub use support::events::{Ack, AckCounting, Cause, Congestion, Lost, RoundTrip};
#[cfg(test)]
pub(crate) use support::probe;
pub use support::user_controller::{Control, UserController};
pub use support::window::Window;

use crate::price::Price;
use crate::primitives::units::{Bytes, Cwnd, Rate, Segments, Time, TimeDelta};
use crate::settings::{Named, PathFacts, SettingConflict, Settings, dispatch, family};
use crate::user_code::{Failure, UserCode, UserObject};
#[cfg(test)]
use probe::Probe;
use serde::{Deserialize, Serialize};
use support::user_controller::User;

/// Settings, states and dispatch, generated from one list: a new controller is a file and one line here. A state contains its window and at
/// most eight further bytes; the rest is stored separately, so that flows of other controllers do not carry it. Controllers without a name
/// follow the members: user code, and the controller for tests.
macro_rules! controllers {
    ($($module:ident::$member:ident,)+ ; $($(#[$when:meta])? $nameless:ident($code:ty),)+) => {
        $(mod $module; pub use $module::*;)+

        family!(ControllerSpec { $($member),+ } nameless { $($(#[$when])? $nameless),+ });

        $(const _: () = assert!(
            std::mem::needs_drop::<$member>() == (<$member>::ABILITIES.heap_bytes > 0),
            concat!(stringify!($member), " must declare the size of its state outside the sender")
        );)+

        $(const _: () = assert!(<$member>::ABILITIES.quantities.len() <= MAX_QUANTITIES, "the memory estimate of traces assumes fewer quantities");)+

        impl ControllerSpec {
            /// Whether [`ControllerSpec::check_path`] may report anything.
            pub fn depends_on_path(&self) -> bool {
                match self {
                    $(ControllerSpec::$member(_) => <<$member as Named>::Spec as Settings>::DEPENDS_ON_PATH,)+
                    _ => false,
                }
            }

            /// The settings that do not suit a path; none for user code.
            pub fn check_path(&self, path: &PathFacts) -> Vec<SettingConflict> {
                match self {
                    $(ControllerSpec::$member(spec) => spec.check_path(path),)+
                    _ => Vec::new(),
                }
            }
        }

        controllers!(
            $($member(<$member as Named>::Spec),)+ $($(#[$when])? $nameless($code),)+
        );
    };
    ($($(#[$when:meta])? $variant:ident($spec:ty),)+) => {
        /// A controller's settings.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub enum ControllerSpec { $($(#[$when])? $variant($spec)),+ }

        impl ControllerSpec {
            /// What the controller can do, and what it requires. For user code, the provider of the code determines the subscriptions.
            pub fn abilities(&self) -> Abilities {
                Controllers::new(self, Start::default()).abilities()
            }

            /// Number of segments released at the start, given this initial window.
            pub(crate) fn first_window(&self, initial_window: f64, packet: Bytes) -> f64 {
                Controllers::new(self, Start { window: initial_window, packet, ..Start::default() }).window().0.max(initial_window)
            }

            /// Maximum sending rate at a price, if the controller uses only a price.
            pub fn rate_at(&self, price: Price) -> Option<Rate> {
                Controllers::new(self, Start::default()).rate_at(price)
            }
        }

        /// The controller of one flow.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(crate) enum Controllers { $($(#[$when])? $variant($variant)),+ }

        impl Controllers {
            /// User code is not loaded here.
            pub(crate) fn new(spec: &ControllerSpec, start: Start) -> Controllers {
                match spec { $($(#[$when])? ControllerSpec::$variant(spec) => Controllers::$variant($variant::new(spec, start))),+ }
            }

            /// See [`Abilities::controls_recovery`].
            #[inline]
            pub(crate) fn controls_recovery(&self) -> bool {
                match self { $($(#[$when])? Controllers::$variant(law) => law.abilities().controls_recovery),+ }
            }

            #[inline(never)]
            fn on_round_trip_called(&mut self, measured: &RoundTrip) {
                match self { $($(#[$when])? Controllers::$variant(law) => law.on_round_trip(measured)),+ }
            }

            /// [`Controller::on_ack`] with an acknowledgement that is stored in memory.
            #[inline(never)]
            pub(crate) fn on_stored_ack(&mut self, ack: &Ack) {
                match self { $($(#[$when])? Controllers::$variant(law) => law.on_ack(ack)),+ }
            }
        }

        impl Controller for Controllers {
            /// None are common to all controllers.
            const ABILITIES: Abilities = Abilities::NONE;

            dispatch! { [Controllers: $($(#[$when])? $variant),+]
                fn abilities(&self) -> Abilities;
                #[inline]
                fn window(&self) -> Cwnd;
                #[inline]
                fn ssthresh(&self) -> Cwnd;
                #[inline]
                fn pacing(&self) -> Option<Rate>;
                fn release(&self) -> Option<Segments>;
                fn round_trip(&self) -> Option<TimeDelta>;
                fn rate_at(&self, price: Price) -> Option<Rate>;
                fn quantity(&self, index: usize, now: Time) -> f64;
                fn on_other_ack(&mut self, ack: &Ack);
                fn on_one_way_delay(&mut self, delay: TimeDelta, now: Time);
                fn on_lost(&mut self, lost: &Lost);
                fn on_congestion(&mut self, seen: &Congestion);
                fn on_timeout(&mut self, seen: &Congestion);
                fn on_spurious_loss(&mut self);
                fn limit_window(&mut self, max: Cwnd);
                fn reduce_initial_window(&mut self, window: Cwnd);
                fn on_idle(&mut self, idle: TimeDelta);
                fn raise_threshold(&mut self, min: Cwnd);
                fn slow_start(&mut self) -> Option<Window<'_>>;
                fn end_slow_start(&mut self);
            }

            // Reno's flows do not pay for other controllers: for those an acknowledgement is copied and passed to a separate function.
            #[inline(always)]
            fn on_ack(&mut self, ack: &Ack) {
                match self {
                    Controllers::Reno(law) => law.on_ack(ack),
                    _ => self.on_stored_ack(&{ *ack }),
                }
            }
            #[inline(always)]
            fn on_round_trip(&mut self, measured: &RoundTrip) {
                if !matches!(self, Controllers::Reno(_)) {
                    self.on_round_trip_called(measured);
                }
            }
            fn undo_reduction(&mut self, before: Controllers) {
                match (self, before) {
                    $($(#[$when])? (Controllers::$variant(law), Controllers::$variant(before)) => law.undo_reduction(before),)+
                    // A flow keeps its controller.
                    (law, before) => *law = before,
                }
            }
        }
    };
}

controllers! {
    reno::Reno,
    cubic::Cubic,
    bbrv1::Bbr1,
    vegas::Vegas,
    fast::Fast,
    clamp::Clamp,
    maxnet::MaxNet,
    rcp::Rcp,
    xcp::Xcp,
    rem::Rem,
    hstcp::HighSpeed,
    dctcp::Dctcp,
    stcp::Scalable,
    htcp::HTcp,
    bic::Bic,
    westwood::Westwood,
    westwood_plus::WestwoodPlus,
    hybla::Hybla,
    illinois::Illinois,
    veno::Veno,
    yeah::Yeah,
    aimd::Aimd,
    binomial::Binomial,
    ledbat::Ledbat,
    compound::Compound,
    prague::Prague,
    copa::Copa,
    swift::Swift,
    timely::Timely,
    bbrv3::Bbr3,
    fixed::Fixed,
    ;
    #[cfg(test)]
    Probe(probe::ProbeSpec),
    User(UserCode),
}

impl Controllers {
    /// A user's controller.
    pub(crate) fn user(law: UserObject<dyn UserController>, start: Start) -> Controllers {
        Controllers::User(User::of(law, start))
    }

    /// The failure of user code, if it has failed.
    pub(crate) fn failure(&self, time: Time) -> Option<Failure> {
        if let Controllers::User(law) = self { law.instance().failure(time) } else { None }
    }
}

/// Maximum number of quantities of a controller.
pub(crate) const MAX_QUANTITIES: usize = 8;

const _: () = assert!(size_of::<Controllers>() <= 24, "the controller of a flow takes at most 24 bytes");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::random::{Entity, Purpose, Stream};
    use crate::primitives::signal::{RateSample, Signal};

    #[test]
    fn the_window_is_always_at_least_one_segment_and_no_acknowledgement_more_than_doubles_it() {
        for (index, spec) in (0..).zip(&ControllerSpec::samples()) {
            for run in 0..100 {
                drive(spec, Stream::new(Entity { seed: run, name: "controllers", index }, Purpose::Policy));
            }
        }
    }

    #[test]
    fn lost_syns_leave_one_segment_of_the_initial_window_unless_only_a_rate_limits_the_controller() {
        let mut kept = Vec::new();
        for spec in ControllerSpec::samples() {
            let mut law = Controllers::new(&spec, Start { window: 10.0, ..Start::default() });
            law.reduce_initial_window(Cwnd(1.0));
            if law.window() != Cwnd(1.0) && !kept.contains(&spec.name()) {
                kept.push(spec.name());
            }
        }
        assert_eq!(kept, ["maxnet", "rcp", "rem", "timely", "fixed"].map(Some));
    }

    /// Two thousand events at random times, with random RTTs and numbers of segments in flight.
    fn drive(spec: &ControllerSpec, stream: Stream) {
        let mut drawn = 0;
        let mut draw = |max: u64| {
            drawn += 1;
            stream.bits(drawn) % (max + 1)
        };
        let ack_counting = if draw(1) > 0 { AckCounting::Bytes } else { AckCounting::Acknowledgements };
        let mut start = Start { window: 1.0 + draw(20) as f64 / 2.0, ack_counting, ..Start::default() };
        if draw(1) == 0 {
            start.ssthresh = 1.0 + draw(30) as f64;
        }
        let mut law = Controllers::new(spec, start);
        let (mut now, mut delivered, mut lost) = (Time::ZERO, 0, 0);
        // A controller that paces may increase its window in a single step.
        let may_leap = law.abilities().may_pace;
        for _ in 0..2000 {
            let magnitude = draw(13) as u32;
            now += TimeDelta(draw(10u64.pow(magnitude)));
            // Half of the events have a full window.
            let in_flight = Segments(if draw(1) == 0 { law.window().0 as u32 } else { 1 + draw(1_000_000) as u32 });
            let rtt = (draw(2) > 0).then(|| TimeDelta(draw(now.0.min(2_000_000_000_000))));
            let seen = Congestion {
                now,
                in_flight,
                pipe: in_flight,
                min_window: Segments(1 + draw(1) as u32),
                repeated: draw(3) == 0,
                cause: if draw(1) == 0 { Cause::Mark } else { Cause::Loss },
            };
            let Cwnd(before) = law.window();
            match draw(40) {
                0 => law.on_congestion(&seen),
                1 => law.on_timeout(&seen),
                2 => law.limit_window(Cwnd(1.0 + draw(50) as f64)),
                4 => law.on_spurious_loss(),
                3 => {
                    lost += 1;
                    let prior_lost = lost - 1 - draw((lost - 1).min(100));
                    let (app_limited, begins_range) = (draw(1) > 0, draw(1) > 0);
                    law.on_lost(&Lost { now, lost, prior_lost, in_flight, app_limited, begins_range });
                }
                _ => {
                    if let Some(rtt) = rtt {
                        law.on_one_way_delay(rtt, now);
                        law.on_round_trip(&RoundTrip { sample: rtt, smoothed: Some(rtt) });
                    }
                    let acked = 1 + draw(3) as u32;
                    let window_validated = draw(4) > 0;
                    delivered += u64::from(acked);
                    let delivered_rate = (draw(1) > 0).then(|| RateSample {
                        rate: draw(1 << 20) as f64,
                        app_limited: draw(1) > 0,
                        delivered,
                        prior_delivered: delivered - draw(delivered.min(100)),
                        prior_lost: lost - draw(lost.min(100)),
                        in_flight,
                        rtt,
                    });
                    let (marks, price) = (draw(acked.into()) as u32, (draw(1) > 0).then(|| draw(100) as f64 / 10.0));
                    let signal = Signal { marks, price, delivered_rate, pipe: None };
                    let (acked, counted) = (Segments(acked), Segments(1 + draw(u64::from(acked) - 1) as u32));
                    let ack = Ack { now, acked, counted, rtt, in_flight, window_validated, signal };
                    if draw(20) == 0 {
                        law.on_other_ack(&ack);
                        assert!(may_leap || law.window().0 <= before, "{spec:?} grew on an acknowledgement of no segments");
                    }
                    law.on_ack(&ack);
                    let max = before + before.max(f64::from(acked.0));
                    assert!(may_leap || law.window().0 <= max, "{spec:?}: {before} to {:?} on one acknowledgement", law.window());
                    assert!(may_leap || window_validated || law.window().0 <= before, "{spec:?} grew an unused window");
                }
            }
            assert!(law.window().0.is_finite() && law.window() >= Cwnd(1.0), "{spec:?}: {:?}", law.window());
            assert!(law.ssthresh() >= Cwnd(1.0), "{spec:?}: {:?}", law.ssthresh());
        }
    }
}
