//! Congestion controllers, one file each, behind one interface. A controller owns the window and, if the algorithm has one, the pacing
//! rate; loss recovery notifies it of events.

mod support;

pub use support::abilities::{Abilities, Subscriptions};
pub use support::events::{Ack, AckCounting, Cause, Congestion, Lost, RoundTrip};
#[cfg(test)]
pub(crate) use support::probe;
pub use support::user_controller::{Control, UserController};
pub use support::window::Window;

use crate::price::Price;
use crate::primitives::random::Draws;
use crate::primitives::units::{Bytes, Cwnd, Rate, Segments, Time, TimeDelta};
use crate::settings::{Named, family};
use crate::user_code::{Failure, UserCode, UserObject};
#[cfg(test)]
use probe::Probe;
use serde::{Deserialize, Serialize};
use support::user_controller::User;

/// The congestion controller of one flow. It is notified of the conclusions of loss recovery, independently of the recovery algorithm.
pub trait Controller {
    /// Abilities common to all settings.
    const ABILITIES: Abilities;

    /// Abilities with the settings of this controller.
    fn abilities(&self) -> Abilities {
        Self::ABILITIES
    }
    /// Congestion window.
    fn window(&self) -> Cwnd;
    /// Slow-start threshold; infinite if the algorithm has none.
    fn ssthresh(&self) -> Cwnd {
        Cwnd(f64::INFINITY)
    }
    /// Pacing rate on the wire for full segments; `None` leaves the timing to acknowledgements or to the sender's own pacing.
    #[inline]
    fn pacing(&self) -> Option<Rate> {
        None
    }
    /// Maximum number of segments released by the last acknowledgement; `None` leaves it to the window. The limit holds until the next
    /// acknowledgement, also during and after loss recovery. Zero holds everything back until then, or until a timeout, which releases the
    /// whole window. Two transmissions ignore the limit: the repair of a fast retransmit, and one segment if none is in flight, because
    /// otherwise no acknowledgement would ever arrive. Used only if [`Subscriptions::release`].
    fn release(&self) -> Option<Segments> {
        None
    }
    /// Value of one of [`Abilities::quantities`]; NaN while there is none.
    fn quantity(&self, _index: usize, _now: Time) -> f64 {
        f64::NAN
    }
    /// Average RTT of a controller that uses prices, if it has measured any. Its packets report it to queues.
    fn round_trip(&self) -> Option<TimeDelta> {
        None
    }
    /// Maximum sending rate at this price on the wire, if the controller uses only a price.
    fn rate_at(&self, _price: Price) -> Option<Rate> {
        None
    }
    fn on_ack(&mut self, ack: &Ack);
    /// Acknowledgements not passed to [`Controller::on_ack`]: duplicates (with `acked` 0), and acknowledgements of new data during loss
    /// recovery. Only if the controller requests anything. Each acknowledgement is reported once.
    fn on_other_ack(&mut self, _ack: &Ack) {}
    /// Called before any other processing of the acknowledgement that provided the sample, including those during loss recovery and, with
    /// timestamps, duplicates.
    #[inline]
    fn on_round_trip(&mut self, _measured: &RoundTrip) {}
    /// The one-way delay of the data from transmission to arrival, measured by the receiver. Called before any other processing of the
    /// acknowledgement that reports it, including acknowledgements that arrive out of order. An acknowledgement that is the first to report
    /// several segments reports their minimum. SYNs are excluded. Only if [`Subscriptions::one_way_delay`].
    fn on_one_way_delay(&mut self, _delay: TimeDelta, _now: Time) {}
    /// Called for each lost segment, before any other processing of the acknowledgement or timeout that revealed it. Without SACK, recovery
    /// detects one per RTT. Only if [`Subscriptions::losses`].
    fn on_lost(&mut self, _lost: &Lost) {}
    /// Called once per episode.
    fn on_congestion(&mut self, seen: &Congestion);
    fn on_timeout(&mut self, seen: &Congestion);
    /// The losses of the last recovery were spurious. Only if [`Abilities::undoes_reductions`].
    fn on_spurious_loss(&mut self) {}
    /// Limits the window: loss recovery has ended and must not release a burst (RFC 6582 section 3.2 step 3), an echo of a mark must not
    /// enlarge the window (RFC 3168 section 6.1.2), or the window was not in use ([`WindowValidation`](crate::tcp::WindowValidation)).
    fn limit_window(&mut self, max: Cwnd);
    /// The application was idle for this time and has data now.
    fn on_idle(&mut self, _idle: TimeDelta) {}
    /// The window and threshold of a controller with Reno's slow start.
    fn slow_start(&mut self) -> Option<Window<'_>> {
        None
    }
    /// Raises the slow-start threshold to at least this value: the window was this large, and is reduced only because it was not used. For
    /// controllers with a threshold.
    fn raise_threshold(&mut self, min: Cwnd) {
        if let Some(mut window) = self.slow_start() {
            window.raise_threshold(min);
        }
    }
    /// Ends slow start: congestion avoidance begins at the present window. Only for controllers with [`Abilities::ends_slow_start`]; others
    /// have their own start.
    fn end_slow_start(&mut self) {
        if let Some(mut window) = self.slow_start() {
            window.end_slow_start();
        }
    }
}

/// Initial settings of a controller, and further inputs for controllers that request them.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// Initial window in segments.
    pub window: f64,
    /// Slow-start threshold in segments.
    pub ssthresh: f64,
    pub ack_counting: AckCounting,
    /// A full segment with its headers, on the wire.
    pub packet: Bytes,
    /// Difference between the RTT of a segment and that of a handshake; on request.
    pub handshake_saves: TimeDelta,
    /// Whether the receiver reports arrivals by SACK; on request.
    pub has_selective_acks: bool,
    /// Number of links on the path of its packets; on request.
    pub hops: u32,
    /// Random draws of the flow; on request.
    pub draws: Draws,
}

impl Default for Start {
    fn default() -> Start {
        Start {
            window: 1.0,
            ssthresh: f64::INFINITY,
            ack_counting: AckCounting::Bytes,
            packet: Bytes(1500),
            handshake_saves: TimeDelta::ZERO,
            has_selective_acks: true,
            hops: 0,
            draws: Draws::default(),
        }
    }
}

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

            #[inline(never)]
            fn on_round_trip_called(&mut self, measured: &RoundTrip) {
                match self { $($(#[$when])? Controllers::$variant(law) => law.on_round_trip(measured)),+ }
            }

            #[cold]
            #[inline(never)]
            fn on_ack_called(&mut self, ack: Ack) {
                match self { $($(#[$when])? Controllers::$variant(law) => law.on_ack(&ack)),+ }
            }
        }

        impl Controller for Controllers {
            /// None are common to all controllers.
            const ABILITIES: Abilities = Abilities::NONE;

            fn abilities(&self) -> Abilities {
                match self { $($(#[$when])? Controllers::$variant(law) => law.abilities()),+ }
            }
            #[inline]
            fn window(&self) -> Cwnd {
                match self { $($(#[$when])? Controllers::$variant(law) => law.window()),+ }
            }
            #[inline]
            fn ssthresh(&self) -> Cwnd {
                match self { $($(#[$when])? Controllers::$variant(law) => law.ssthresh()),+ }
            }
            #[inline]
            fn pacing(&self) -> Option<Rate> {
                match self { $($(#[$when])? Controllers::$variant(law) => law.pacing()),+ }
            }
            fn release(&self) -> Option<Segments> {
                match self { $($(#[$when])? Controllers::$variant(law) => law.release()),+ }
            }
            fn round_trip(&self) -> Option<TimeDelta> {
                match self { $($(#[$when])? Controllers::$variant(law) => law.round_trip()),+ }
            }
            fn rate_at(&self, price: Price) -> Option<Rate> {
                match self { $($(#[$when])? Controllers::$variant(law) => law.rate_at(price)),+ }
            }
            fn quantity(&self, index: usize, now: Time) -> f64 {
                match self { $($(#[$when])? Controllers::$variant(law) => law.quantity(index, now)),+ }
            }
            fn on_other_ack(&mut self, ack: &Ack) {
                match self { $($(#[$when])? Controllers::$variant(law) => law.on_other_ack(ack)),+ }
            }
            // Reno's flows do not pay for other controllers: for those an acknowledgement is copied and passed to a separate function.
            #[inline(always)]
            fn on_ack(&mut self, ack: &Ack) {
                match self {
                    Controllers::Reno(law) => law.on_ack(ack),
                    _ => self.on_ack_called(*ack),
                }
            }
            #[inline(always)]
            fn on_round_trip(&mut self, measured: &RoundTrip) {
                if !matches!(self, Controllers::Reno(_)) {
                    self.on_round_trip_called(measured);
                }
            }
            fn on_one_way_delay(&mut self, delay: TimeDelta, now: Time) {
                match self { $($(#[$when])? Controllers::$variant(law) => law.on_one_way_delay(delay, now)),+ }
            }
            fn on_lost(&mut self, lost: &Lost) {
                match self { $($(#[$when])? Controllers::$variant(law) => law.on_lost(lost)),+ }
            }
            fn on_congestion(&mut self, seen: &Congestion) {
                match self { $($(#[$when])? Controllers::$variant(law) => law.on_congestion(seen)),+ }
            }
            fn on_timeout(&mut self, seen: &Congestion) {
                match self { $($(#[$when])? Controllers::$variant(law) => law.on_timeout(seen)),+ }
            }
            fn on_spurious_loss(&mut self) {
                match self { $($(#[$when])? Controllers::$variant(law) => law.on_spurious_loss()),+ }
            }
            fn limit_window(&mut self, max: Cwnd) {
                match self { $($(#[$when])? Controllers::$variant(law) => law.limit_window(max)),+ }
            }
            fn on_idle(&mut self, idle: TimeDelta) {
                match self { $($(#[$when])? Controllers::$variant(law) => law.on_idle(idle)),+ }
            }

            fn raise_threshold(&mut self, min: Cwnd) {
                match self { $($(#[$when])? Controllers::$variant(law) => law.raise_threshold(min)),+ }
            }

            fn slow_start(&mut self) -> Option<Window<'_>> {
                match self { $($(#[$when])? Controllers::$variant(law) => law.slow_start()),+ }
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
            for run in 0..200 {
                drive(spec, Stream::new(Entity { seed: run, name: "controllers", index }, Purpose::Policy));
            }
        }
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
