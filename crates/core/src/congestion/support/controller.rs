//! The interface of a controller, and the inputs from which one is made.

use super::abilities::Abilities;
#[cfg(doc)]
use super::abilities::Subscriptions;
use super::events::{Ack, AckCounting, Congestion, Lost, RoundTrip};
use super::window::Window;
use crate::price::Price;
use crate::primitives::random::Draws;
use crate::primitives::units::{Bytes, Cwnd, Rate, Segments, Time, TimeDelta};

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
    /// Undoes a reduction that was spurious. `before` is the controller before it, all of which is restored by default (RFC 9438 section
    /// 4.9). Not if [`Abilities::undoes_reductions`].
    fn undo_reduction(&mut self, before: Self)
    where
        Self: Sized,
    {
        *self = before;
    }
    /// Limits the window: loss recovery has ended and must not release a burst (RFC 6582 section 3.2 step 3), an echo of a mark must not
    /// enlarge the window (RFC 3168 section 6.1.2), or the window was not in use ([`WindowValidation`](crate::tcp::WindowValidation)).
    fn limit_window(&mut self, max: Cwnd);
    /// Sets the initial window after lost SYNs (RFC 5681 section 3.1). Controllers that only a rate limits have none.
    fn reduce_initial_window(&mut self, window: Cwnd) {
        self.limit_window(window);
    }
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
    /// Tick of the sender's clock; zero if it has none.
    pub jiffy: TimeDelta,
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
            jiffy: TimeDelta::ZERO,
            handshake_saves: TimeDelta::ZERO,
            has_selective_acks: true,
            hops: 0,
            draws: Draws::default(),
        }
    }
}
