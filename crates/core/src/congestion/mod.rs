//! Congestion controllers, one file each, behind one interface. They own the window and, where the law has one, the rate at which it is
//! sent; loss recovery tells them what happened.

mod support;

#[cfg(test)]
pub(crate) use support::probe;
pub use support::user_controller::{Control, UserController};

use crate::price::Meaning;
use crate::primitives::random::Draws;
use crate::primitives::signal::Signal;
use crate::primitives::units::{Bytes, Cwnd, Rate, Segments, Span, Time};
use crate::settings::{Named, family, words};
use crate::user_code::{Failure, Instance, UserCode};
#[cfg(test)]
use probe::Probe;
use serde::{Deserialize, Serialize};
use support::user_controller::User;

words! {
    /// Unit in which acknowledgements open the window.
    pub enum AckCounting ("acknowledgement ack_counting") {
        /// Bytes acknowledged: RFC 3465, which RFC 5681 section 3.1 recommends.
        Bytes = "bytes",
        /// Acknowledgements received, whatever they acknowledge: RFC 5681 section 3.1 equation (3), and earlier senders. With delayed
        /// acknowledgements the window opens half as fast.
        Acknowledgements = "acknowledgements",
    }
}

/// New data was acknowledged outside loss recovery.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    pub now: Time,
    /// Segments that left the network with this acknowledgement.
    pub acked: Segments,
    /// Segments for which the window opens: those, fewer or none in slow start, or one, as the sender counts
    /// ([`AckCounting`]).
    pub counted: Segments,
    /// A round-trip sample, where this acknowledgement gave one.
    pub rtt: Option<Span>,
    /// Segments sent and not yet acknowledged, before this acknowledgement.
    pub in_flight: Segments,
    /// The window may open: it is smaller than the receiver's, and used as far as the sender's rule of validation asks.
    pub window_validated: bool,
    /// As much of it as the law asked for ([`Subscriptions`]).
    pub signal: Signal,
}

impl Ack {
    /// Slow start (RFC 5681 section 3.1): the window opens by a segment for each that counts, up to the threshold. Returns by how many, and
    /// how many are left for congestion avoidance.
    #[inline(always)]
    pub(crate) fn slow_start(&self, law: &impl Controller) -> (f64, f64) {
        in_slow_start(self.counted, law)
    }

    #[cfg(test)]
    /// Of one segment, with the window full.
    pub(crate) fn of_one(now: Time) -> Ack {
        Ack {
            now,
            acked: Segments(1),
            counted: Segments(1),
            rtt: None,
            in_flight: Segments(1),
            window_validated: true,
            signal: Signal::default(),
        }
    }
}

/// See [`Ack::slow_start`].
#[inline(always)]
fn in_slow_start(counted: Segments, law: &impl Controller) -> (f64, f64) {
    let counted = f64::from(counted.0);
    // Whole segments: the first may pass a threshold between two of them.
    let opens = counted.min((law.ssthresh() - law.window()).ceil()).max(0.0);
    (opens, counted - opens)
}

/// What a law asks for that most do not. Flows of laws that ask for nothing pay nothing for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subscriptions {
    /// An exact count of marks: [`Signal::marks`].
    pub marks: bool,
    /// To answer them as it counts them: it does not hear of them once per window ([`Controller::on_congestion`]).
    pub answers_marks: bool,
    /// The prices of the path: [`Signal::price`]. Of packets that travel whole only.
    pub price: bool,
    /// One-way delays: [`Controller::on_one_way_delay`].
    pub one_way_delay: bool,
    /// Samples of the rate of delivery: [`Signal::delivered_rate`].
    pub delivered_rate: bool,
    /// To bound what one acknowledgement releases: [`Controller::release`].
    pub release: bool,
    /// Each segment that is lost: [`Controller::on_lost`]. With samples of the rate of delivery.
    pub losses: bool,
    /// Nothing else than to hear of all acknowledgements: [`Controller::on_other_ack`].
    pub other_acks: bool,
}

impl Subscriptions {
    pub(crate) fn is_any(self) -> bool {
        self != Subscriptions::default()
    }
}

/// A round trip was measured.
#[derive(Clone, Copy, Debug)]
pub struct RoundTrip {
    pub sample: Span,
    /// The retransmission timer's average, which some samples are not part of.
    pub smoothed: Option<Span>,
}

/// Loss recovery found congestion, or a mark told of it.
#[derive(Clone, Copy, Debug)]
pub struct Congestion {
    pub now: Time,
    /// Segments outstanding when it was found: RFC 5681's FlightSize.
    pub in_flight: Segments,
    /// Of these, segments thought to be in the network still.
    pub pipe: Segments,
    /// The window is not reduced below this.
    pub min_window: Segments,
    /// A timeout of a segment that had timed out before: the threshold stays (RFC 5681 section 3.1).
    pub repeated: bool,
    pub cause: Cause,
}

/// A segment was found lost. Names in brackets are those of draft-ietf-ccwg-bbr-06.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lost {
    pub now: Time,
    /// Segments found lost so far, this one among them (C.lost).
    pub lost: u64,
    /// Of these, when it was sent (P.lost).
    pub lost_before: u64,
    /// Segments thought to be in the network when it had been sent (P.tx_in_flight).
    pub in_flight: Segments,
    /// When it was sent, the application had not enough data to fill the window.
    pub app_limited: bool,
    /// It does not follow the one that was found lost before it.
    pub begins_range: bool,
}

/// What a window is reduced for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Also where a timer takes something for lost.
    Loss,
    /// The echo of a mark, which comes once per window.
    Mark,
}

impl Congestion {
    /// A first loss, with all of what is outstanding in the network.
    pub(crate) fn of(now: Time, in_flight: Segments) -> Congestion {
        Congestion { now, in_flight, pipe: in_flight, min_window: Segments(2), repeated: false, cause: Cause::Loss }
    }
}

/// The control law of one flow. It learns what loss recovery concluded, never how.
pub trait Controller {
    /// Bytes of its state that lie beside the sender.
    const HEAP_BYTES: usize = 0;

    /// Whether no loss makes the window smaller, so that all of it may have to be sent again.
    const IGNORES_LOSSES: bool = false;

    /// Whether its window bounds what is in flight also while losses are repaired. For the others RFC 9937 does, with `rack_tlp`.
    const GOVERNS_RECOVERY: bool = false;

    /// Whether it takes a reduction back itself that proves needless ([`Controller::on_spurious_loss`]). Of the others the law as it was takes its place.
    const TAKES_BACK: bool = false;

    /// Whether it goes by all that [`Start`] says: also by its path and by chance.
    const ASKS_AT_START: bool = false;

    /// What it goes by beside its window, with units: for traces.
    const QUANTITIES: &'static [&'static str] = &[];

    /// Of what the prices are that it goes by.
    const PRICE_MEANING: Option<Meaning> = None;

    /// Whether it is fit for the queues of L4S, and its packets say so (RFC 9331 section 4).
    const IS_L4S: bool = false;

    /// Whether its slow start ends when it is told so ([`Controller::end_slow_start`]).
    const ENDS_SLOW_START: bool = false;

    /// Congestion window in segments.
    fn window(&self) -> f64;
    /// Slow-start threshold in segments; infinite where the law has none.
    fn ssthresh(&self) -> f64;
    /// The rate on the wire at which full segments leave; `None` leaves it to acknowledgements, or to the sender's own pacing.
    #[inline]
    fn pacing(&self) -> Option<Rate> {
        None
    }
    /// Whether there may be such a rate at some time.
    fn may_pace(&self) -> bool {
        self.pacing().is_some()
    }
    /// What the law asks for beside what all hear. It is asked once, when the flow is made.
    fn subscriptions(&self) -> Subscriptions {
        Subscriptions::default()
    }
    /// At most this many segments leave because of the acknowledgement just heard; `None` leaves it to the window. The bound holds until
    /// the next acknowledgement, also in loss recovery and after it. Zero holds everything back until then, or until a timeout, which releases
    /// what the window allows. Two things leave whatever the bound is: the repair that a fast retransmit makes at once, and, when nothing
    /// is in flight, one segment, because otherwise no acknowledgement would ever come. Only asked if [`Subscriptions::release`].
    fn release(&self) -> Option<Segments> {
        None
    }
    /// Of [`Controller::QUANTITIES`], in their order; NaN while there is none.
    fn quantity(&self, _index: usize, _now: Time) -> f64 {
        f64::NAN
    }
    /// The average of its round trips, of a law that goes by prices and has measured any: its packets tell queues.
    fn round_trip(&self) -> Option<Span> {
        None
    }
    /// Bits per second on the wire that it sends at most at this price, of a law that goes by one alone.
    fn rate_at(&self, _price: f64) -> f64 {
        0.0
    }
    /// By how many segments at most one that is acknowledged opens the window.
    fn opens(&self) -> f64 {
        1.0
    }
    fn on_ack(&mut self, ack: &Ack);
    /// Of acknowledgements that [`Controller::on_ack`] does not hear of: duplicates (with `acked` 0), and those of new data while losses are
    /// repaired. Only if the law asks for anything. Each acknowledgement is heard of once.
    fn on_other_ack(&mut self, _ack: &Ack) {}
    /// Before anything else of the acknowledgement that gave it: also of one while losses are repaired and, with timestamps, of a
    /// duplicate.
    #[inline]
    fn on_round_trip(&mut self, _measured: &RoundTrip) {}
    /// The receiver tells how long the data took, from when a segment was sent until it arrived, before anything else of the acknowledgement that
    /// brings this, whichever it is: also of one that arrives after a later one. Of several segments that it is the first to tell of it says the
    /// least. A SYN is none of them. Only if [`Subscriptions::one_way_delay`].
    fn on_one_way_delay(&mut self, _delay: Span, _now: Time) {}
    /// Of each segment that is lost, before anything else of the acknowledgement or timeout that showed it. Without SACK recovery finds one
    /// in a round trip. Only if [`Subscriptions::losses`].
    fn on_lost(&mut self, _lost: &Lost) {}
    /// Once per episode.
    fn on_congestion(&mut self, seen: &Congestion);
    fn on_timeout(&mut self, seen: &Congestion);
    /// What the last recovery took for lost was not. Only if [`Controller::TAKES_BACK`].
    fn on_spurious_loss(&mut self) {}
    /// The window may be no larger than this: loss recovery is over and must not release more at once (RFC 6582 section 3.2 step 3),
    /// an echo of a mark must not enlarge it (RFC 3168 section 6.1.2), or it was not in use ([`WindowValidation`](crate::tcp::WindowValidation)).
    fn limit_window(&mut self, most: Cwnd);
    /// There was nothing to send for so long, and there is now.
    fn on_idle(&mut self, _idle: Span) {}
    /// Slow start goes at least so far: the window was as large, and is made smaller only because it was not used. Of laws that have a threshold.
    fn raise_threshold(&mut self, _least: Cwnd) {}
    /// The window is large enough: congestion avoidance begins. Only of those that say so ([`Controller::ENDS_SLOW_START`]);
    /// others have a start of their own.
    fn end_slow_start(&mut self) {}
}

/// The settings with which a controller starts, and, for those that ask, what else they go by.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// Segments.
    pub window: f64,
    /// Segments.
    pub ssthresh: f64,
    pub ack_counting: AckCounting,
    /// A full segment with its headers, on the wire.
    pub packet: Bytes,
    /// By how much the round trip of a handshake would have been shorter than that of a segment; for those that ask.
    pub handshake_saves: Span,
    /// The receiver reports by SACK what has arrived; for those that ask.
    pub has_selective_acks: bool,
    /// Links that its packets are sent over; for those that ask.
    pub hops: u32,
    /// What the flow draws; for those that ask.
    pub draws: Draws,
}

impl Default for Start {
    fn default() -> Start {
        Start {
            window: 1.0,
            ssthresh: f64::INFINITY,
            ack_counting: AckCounting::Bytes,
            packet: Bytes(1500),
            handshake_saves: Span::ZERO,
            has_selective_acks: true,
            hops: 0,
            draws: Draws::default(),
        }
    }
}

/// Settings, states and dispatch, from one list: a new controller is its file and one line here. A state holds its window and at most
/// eight bytes more: what only some laws remember lies beside, so that the others' flows do not carry it. After the members come the laws
/// that have no name: user code, and the one of tests.
macro_rules! controllers {
    ($($module:ident::$member:ident,)+ ; $($(#[$when:meta])? $nameless:ident($code:ty),)+) => {
        $(mod $module; pub use $module::*;)+

        family!(ControllerSpec { $($member),+ } nameless { $($(#[$when])? $nameless),+ });

        $(const _: () = assert!(
            std::mem::needs_drop::<$member>() == (<$member>::HEAP_BYTES > 0),
            concat!(stringify!($member), " keeps something beside the sender and does not say how much, or the other way round")
        );)+

        $(const _: () = assert!(<$member>::QUANTITIES.len() <= MOST_QUANTITIES, "memory of traces is estimated for fewer");)+

        controllers!(
            $($member(<$member as Named>::Spec),)+ $($(#[$when])? $nameless($code),)+
        );
    };
    ($($(#[$when:meta])? $variant:ident($spec:ty),)+) => {
        /// A controller's settings.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub enum ControllerSpec { $($(#[$when])? $variant($spec)),+ }

        impl ControllerSpec {
            /// What the law asks for beside what all hear. Of user code, who brings it along knows.
            pub fn subscriptions(&self) -> Subscriptions {
                Controllers::new(self, Start::default()).subscriptions()
            }

            /// Whether there may be a rate of its own at some time.
            pub(crate) fn may_pace(&self) -> bool {
                Controllers::new(self, Start::default()).may_pace()
            }

            /// Segments that it lets go at first, told to begin with so many.
            pub(crate) fn first_window(&self, initial_window: f64, packet: Bytes) -> f64 {
                Controllers::new(self, Start { window: initial_window, packet, ..Start::default() }).window().max(initial_window)
            }

            /// By how many segments at most one that is acknowledged opens the window.
            pub(crate) fn opens(&self) -> f64 {
                Controllers::new(self, Start::default()).opens()
            }

            /// Whether no loss makes the window smaller.
            pub(crate) fn ignores_losses(&self) -> bool {
                match self { $($(#[$when])? ControllerSpec::$variant(_) => <$variant>::IGNORES_LOSSES),+ }
            }

            /// Of what the prices are that the law goes by.
            pub fn price_meaning(&self) -> Option<Meaning> {
                match self { $($(#[$when])? ControllerSpec::$variant(_) => <$variant>::PRICE_MEANING),+ }
            }

            /// Bits per second that the law sends at most at a price, if it goes by a price alone; else 0.
            pub fn rate_at(&self, price: f64) -> f64 {
                Controllers::new(self, Start::default()).rate_at(price)
            }

            /// Whether the law goes by all that [`Start`] says.
            pub fn asks_at_start(&self) -> bool {
                match self { $($(#[$when])? ControllerSpec::$variant(_) => <$variant>::ASKS_AT_START),+ }
            }

            /// Whether the law's slow start ends when it is told so.
            pub fn ends_slow_start(&self) -> bool {
                match self { $($(#[$when])? ControllerSpec::$variant(_) => <$variant>::ENDS_SLOW_START),+ }
            }

            /// Whether its packets say that they are L4S.
            pub fn is_l4s(&self) -> bool {
                match self { $($(#[$when])? ControllerSpec::$variant(_) => <$variant>::IS_L4S),+ }
            }

            /// What the law goes by beside its window, with units.
            pub fn quantities(&self) -> &'static [&'static str] {
                match self { $($(#[$when])? ControllerSpec::$variant(_) => <$variant>::QUANTITIES),+ }
            }

            /// Bytes that a flow takes beside its sender.
            pub(crate) fn heap_bytes(&self) -> usize {
                match self { $($(#[$when])? ControllerSpec::$variant(_) => <$variant>::HEAP_BYTES),+ }
            }
        }

        /// The controller of one flow.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(crate) enum Controllers { $($(#[$when])? $variant($variant)),+ }

        impl Controllers {
            /// User code is not brought along here.
            pub(crate) fn new(spec: &ControllerSpec, start: Start) -> Controllers {
                match spec { $($(#[$when])? ControllerSpec::$variant(spec) => Controllers::$variant($variant::new(spec, start))),+ }
            }

            /// Whether the law's window bounds what is in flight also while losses are repaired.
            pub(crate) fn governs_recovery(&self) -> bool {
                match self { $($(#[$when])? Controllers::$variant(_) => <$variant>::GOVERNS_RECOVERY),+ }
            }

            /// Whether the law takes a reduction back itself.
            pub(crate) fn takes_back(&self) -> bool {
                match self { $($(#[$when])? Controllers::$variant(_) => <$variant>::TAKES_BACK),+ }
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
            #[inline]
            fn window(&self) -> f64 {
                match self { $($(#[$when])? Controllers::$variant(law) => law.window()),+ }
            }
            #[inline]
            fn ssthresh(&self) -> f64 {
                match self { $($(#[$when])? Controllers::$variant(law) => law.ssthresh()),+ }
            }
            #[inline]
            fn pacing(&self) -> Option<Rate> {
                match self { $($(#[$when])? Controllers::$variant(law) => law.pacing()),+ }
            }
            fn may_pace(&self) -> bool {
                match self { $($(#[$when])? Controllers::$variant(law) => law.may_pace()),+ }
            }
            fn subscriptions(&self) -> Subscriptions {
                match self { $($(#[$when])? Controllers::$variant(law) => law.subscriptions()),+ }
            }
            fn opens(&self) -> f64 {
                match self { $($(#[$when])? Controllers::$variant(law) => law.opens()),+ }
            }
            fn release(&self) -> Option<Segments> {
                match self { $($(#[$when])? Controllers::$variant(law) => law.release()),+ }
            }
            fn round_trip(&self) -> Option<Span> {
                match self { $($(#[$when])? Controllers::$variant(law) => law.round_trip()),+ }
            }
            fn rate_at(&self, price: f64) -> f64 {
                match self { $($(#[$when])? Controllers::$variant(law) => law.rate_at(price)),+ }
            }
            fn quantity(&self, index: usize, now: Time) -> f64 {
                match self { $($(#[$when])? Controllers::$variant(law) => law.quantity(index, now)),+ }
            }
            fn on_other_ack(&mut self, ack: &Ack) {
                match self { $($(#[$when])? Controllers::$variant(law) => law.on_other_ack(ack)),+ }
            }
            // Reno's flows pay for no other law: what the others do with an acknowledgement is a call, for which it is copied.
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
            fn on_one_way_delay(&mut self, delay: Span, now: Time) {
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
            fn limit_window(&mut self, most: Cwnd) {
                match self { $($(#[$when])? Controllers::$variant(law) => law.limit_window(most)),+ }
            }
            fn on_idle(&mut self, idle: Span) {
                match self { $($(#[$when])? Controllers::$variant(law) => law.on_idle(idle)),+ }
            }

            fn raise_threshold(&mut self, least: Cwnd) {
                match self { $($(#[$when])? Controllers::$variant(law) => law.raise_threshold(least)),+ }
            }

            fn end_slow_start(&mut self) {
                match self { $($(#[$when])? Controllers::$variant(law) => law.end_slow_start()),+ }
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
    /// A law of a user.
    pub(crate) fn user(law: Instance<dyn UserController>, start: Start) -> Controllers {
        Controllers::User(User::of(law, start))
    }

    /// What became of user code.
    pub(crate) fn failure(&self, time: Time) -> Option<Failure> {
        if let Controllers::User(law) = self { law.instance().failure(time) } else { None }
    }
}

/// Quantities of a law at most.
pub(crate) const MOST_QUANTITIES: usize = 8;

const _: () = assert!(size_of::<Controllers>() <= 24, "an idle flow has no room for more");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::random::{Entity, Purpose, Stream};
    use crate::primitives::signal::DeliveredRate;

    #[test]
    fn whatever_happens_the_window_is_a_number_of_at_least_one_segment_that_no_acknowledgement_more_than_doubles() {
        for (index, spec) in (0..).zip(&ControllerSpec::samples()) {
            for run in 0..200 {
                drive(spec, Stream::new(Entity { seed: run, name: "controllers", index }, Purpose::Policy));
            }
        }
    }

    /// Two thousand events, at any distance in time, with any round trip and any number in flight.
    fn drive(spec: &ControllerSpec, stream: Stream) {
        let mut drawn = 0;
        let mut draw = |most: u64| {
            drawn += 1;
            stream.bits(drawn) % (most + 1)
        };
        let ack_counting = if draw(1) > 0 { AckCounting::Bytes } else { AckCounting::Acknowledgements };
        let mut start = Start { window: 1.0 + draw(20) as f64 / 2.0, ack_counting, ..Start::default() };
        if draw(1) == 0 {
            start.ssthresh = 1.0 + draw(30) as f64;
        }
        let mut law = Controllers::new(spec, start);
        let (mut now, mut delivered, mut lost) = (Time::ZERO, 0, 0);
        // Where a rate of its own keeps bursts away, a window may leap.
        let may_leap = law.may_pace();
        for _ in 0..2000 {
            let magnitude = draw(13) as u32;
            now += Span(draw(10u64.pow(magnitude)));
            // Half of what is in flight fills the window.
            let in_flight = Segments(if draw(1) == 0 { law.window() as u32 } else { 1 + draw(1_000_000) as u32 });
            let rtt = (draw(2) > 0).then(|| Span(draw(now.0.min(2_000_000_000_000))));
            let seen = Congestion {
                now,
                in_flight,
                pipe: in_flight,
                min_window: Segments(1 + draw(1) as u32),
                repeated: draw(3) == 0,
                cause: if draw(1) == 0 { Cause::Mark } else { Cause::Loss },
            };
            let before = law.window();
            match draw(40) {
                0 => law.on_congestion(&seen),
                1 => law.on_timeout(&seen),
                2 => law.limit_window(Cwnd(1.0 + draw(50) as f64)),
                4 => law.on_spurious_loss(),
                3 => {
                    lost += 1;
                    let lost_before = lost - 1 - draw((lost - 1).min(100));
                    let (app_limited, begins_range) = (draw(1) > 0, draw(1) > 0);
                    law.on_lost(&Lost { now, lost, lost_before, in_flight, app_limited, begins_range });
                }
                _ => {
                    if let Some(rtt) = rtt {
                        law.on_one_way_delay(rtt, now);
                        law.on_round_trip(&RoundTrip { sample: rtt, smoothed: Some(rtt) });
                    }
                    let acked = 1 + draw(3) as u32;
                    let window_validated = draw(4) > 0;
                    delivered += u64::from(acked);
                    let delivered_rate = (draw(1) > 0).then(|| DeliveredRate {
                        rate: draw(1 << 20) as f64,
                        app_limited: draw(1) > 0,
                        delivered,
                        delivered_before: delivered - draw(delivered.min(100)),
                        lost_before: lost - draw(lost.min(100)),
                        in_flight,
                    });
                    let (marks, price) = (draw(acked.into()) as u32, (draw(1) > 0).then(|| draw(100) as f64 / 10.0));
                    let signal = Signal { marks, price, delivered_rate, pipe: None };
                    let (acked, counted) = (Segments(acked), Segments(1 + draw(u64::from(acked) - 1) as u32));
                    let ack = Ack { now, acked, counted, rtt, in_flight, window_validated, signal };
                    if draw(20) == 0 {
                        law.on_other_ack(&ack);
                        assert!(may_leap || law.window() <= before, "{spec:?} grew on an acknowledgement that releases nothing");
                    }
                    law.on_ack(&ack);
                    let most = before + before.max(f64::from(acked.0));
                    assert!(may_leap || law.window() <= most, "{spec:?}: {before} to {} on one acknowledgement", law.window());
                    assert!(may_leap || window_validated || law.window() <= before, "{spec:?} grew a window that was not used");
                }
            }
            assert!(law.window().is_finite() && law.window() >= 1.0, "{spec:?}: {}", law.window());
            assert!(law.ssthresh() >= 1.0, "{spec:?}: {}", law.ssthresh());
        }
    }
}
