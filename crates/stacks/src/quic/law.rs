//! A congestion controller without its sender.
//!
//! It receives RTTs as an estimator that only a connection of the crate can make and update. So there is a connection of two ends without a
//! network, which measures the RTTs of the simulated sender.

use super::host::{Host, Settings};
use super::proto::RttEstimator;
use super::proto::congestion::{Controller, ControllerFactory};
use super::{Congestion, Recorder, on_ack, on_congestion};
use crate::Transfer;
use crate::end::no_parameters;
use crate::quic::threshold;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tailback_core::primitives::units::{Time, TimeDelta};
use tailback_host::controllers::{Decision, Event, Kind, Law, SenderSettings};
use tailback_host::{Datagram, EcnField, Framing, Host as _, Outbox};

/// The controller of a simulated sender.
pub(crate) struct Alone {
    controller: Box<dyn Controller>,
    origin: Instant,
    segment: u64,
    /// RTT of the data that were acknowledged last.
    rtt: TimeDelta,
    /// From the first sample on.
    measured: Option<Measurement>,
}

impl Alone {
    pub(crate) fn cubic(sender: &SenderSettings) -> Result<Box<dyn Law>, String> {
        Alone::of(Congestion::Cubic, sender)
    }

    pub(crate) fn newreno(sender: &SenderSettings) -> Result<Box<dyn Law>, String> {
        Alone::of(Congestion::NewReno, sender)
    }

    fn of(congestion: Congestion, sender: &SenderSettings) -> Result<Box<dyn Law>, String> {
        no_parameters(&sender.parameters)?;
        let origin = Instant::now();
        let segment = sender.segment.0;
        let mtu = u16::try_from(segment).map_err(|_| format!("a packet has {segment} bytes; expected at most {}", u16::MAX))?;
        let controller = congestion.factory(Some(sender.window as u64)).build(origin, mtu);
        Ok(Box::new(Alone { controller, origin, segment, rtt: TimeDelta::ZERO, measured: None }))
    }

    fn instant(&self, Time(picoseconds): Time) -> Instant {
        self.origin + Duration::from_nanos(picoseconds / 1000)
    }
}

impl Law for Alone {
    fn on_event(&mut self, event: &Event) {
        if let Some(rtt) = event.round_trip() {
            self.rtt = rtt;
            self.measured.get_or_insert_with(|| Measurement::new(rtt)).add(rtt);
        }
        let now = self.instant(Time(event.now));
        if event.is(Kind::Acked) {
            // Before the first sample, nothing has been acknowledged that was sent only once.
            let Some(rtt) = self.measured.as_ref().and_then(Measurement::estimator) else { return };
            let sent = self.instant(Time(event.now.saturating_sub(self.rtt.0)));
            on_ack(&mut *self.controller, [sent, now], event, &rtt);
        } else {
            // The sender reports each episode once. RFC 9002 section 7.6.2: persistent congestion has the response of TCP to a timeout.
            let lost = if event.is(Kind::Marked) { 0 } else { self.segment };
            on_congestion(&mut *self.controller, now, event, lost);
        }
    }

    fn decision(&self) -> Decision {
        let ssthresh = threshold(self.controller.metrics().ssthresh).map_or(f64::INFINITY, |bytes| bytes.0 as f64);
        Decision { window: self.controller.window() as f64, ssthresh, pacing: 0 }
    }
}

/// Two ends between which a packet takes no time in one direction, and an RTT in the other.
struct Measurement {
    client: Host,
    server: Host,
    now: Time,
    seen: Estimator,
}

/// The last estimator that the controller of the client has received.
pub(super) type Estimator = Arc<Mutex<Option<RttEstimator>>>;

impl Measurement {
    /// An open connection, whose handshake has this RTT.
    fn new(rtt: TimeDelta) -> Measurement {
        let [local, remote] = [1, 2].map(|last| SocketAddrV4::new(Ipv4Addr::new(198, 18, 0, last), 443));
        let (start, stop) = (Time::ZERO, Time::NEVER);
        let transfer = Transfer { local, remote, start, stop, size: None };
        let settings = Settings { train: 1, ..Settings::default() };
        let seen = Estimator::default();
        let client = Host::idle_client(&settings, transfer, Arc::new(Recorder(seen.clone())));
        let server = Host::receiver(&settings, remote);
        let mut made = Measurement { client, server, now: Time::ZERO, seen };
        // Three flights each way, and the frames that follow a handshake.
        (0..4).for_each(|_| made.exchange(rtt));
        made
    }

    fn estimator(&self) -> Option<RttEstimator> {
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Two packets are acknowledged after this RTT. An acknowledgement of one would be delayed (RFC 9000 section 13.2.2).
    fn add(&mut self, rtt: TimeDelta) {
        let mut outbox = Outbox::new(Framing::Udp);
        for _ in 0..2 {
            self.client.ping();
            self.client.poll(self.now, &mut outbox);
        }
        deliver(&mut outbox, &mut self.server, self.now);
        self.exchange(rtt);
    }

    fn exchange(&mut self, rtt: TimeDelta) {
        let mut outbox = Outbox::new(Framing::Udp);
        self.client.poll(self.now, &mut outbox);
        deliver(&mut outbox, &mut self.server, self.now);
        self.server.poll(self.now, &mut outbox);
        self.now += rtt;
        deliver(&mut outbox, &mut self.client, self.now);
    }
}

fn deliver(outbox: &mut Outbox, to: &mut Host, now: Time) {
    while let Some(packet) = outbox.take() {
        if let Some(datagram) = Framing::Udp.datagram(&packet) {
            to.receive(now, &Datagram { ecn: EcnField::NotEct, ..datagram });
        }
    }
}

/// The factory of [`Recorder`]s is one itself.
impl ControllerFactory for Recorder {
    fn build(self: Arc<Self>, _now: Instant, _current_mtu: u16) -> Box<dyn Controller> {
        Box::new(Recorder(self.0.clone()))
    }
}

impl Recorder {
    pub(super) fn record(&self, rtt: &RttEstimator) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(*rtt);
    }
}

/// A window that limits nothing, and is not paced.
pub(super) const UNLIMITED: u64 = 1 << 40;

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> TimeDelta {
        TimeDelta::from_millis(ms)
    }

    /// RFC 9002 section 5.3: the first sample is the average, of which each further one replaces an eighth. Both crates process an
    /// acknowledgement with the average before its own sample.
    #[test]
    fn the_estimator_has_the_samples_of_the_sender() {
        let mut measured = Measurement::new(ms(40));
        let averages = [40, 40, 120, 40, 40].map(|sample| {
            measured.add(ms(sample));
            measured.estimator().unwrap().get().as_micros()
        });
        assert_eq!(averages, [40_000, 40_000, 40_000, 50_000, 48_750]);
        assert_eq!(measured.estimator().unwrap().min(), Duration::from_millis(40));
    }
}
