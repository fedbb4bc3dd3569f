//! A small transport, as an example of one that has its own repository: it depends on nothing of Tailback. It sends numbered packets with a
//! window that grows by one packet per round trip and falls to 0.7 of itself once per window with a loss, acknowledges each packet, and has a
//! fixed retransmission timeout.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Bytes of a data packet.
pub const PACKET: usize = 1200;

/// A packet counts as lost when three later ones have been acknowledged (RFC 9002 section 6.1.1).
const REORDERING: u64 = 3;
const TIMEOUT: Duration = Duration::from_millis(300);

/// Sends packets without end.
#[derive(Default)]
pub struct Sender {
    next: u64,
    /// Send times of the packets that are neither acknowledged nor lost.
    in_flight: BTreeMap<u64, Duration>,
    window: f64,
    /// Losses of packets before this one belong to a reduction that has taken place.
    recovery_until: u64,
    is_past_slow_start: bool,
}

impl Sender {
    /// The packets to send now.
    pub fn packets(&mut self, now: Duration) -> Vec<u64> {
        let mut sent = Vec::new();
        while (self.in_flight.len() as f64) < self.window.max(10.0) {
            self.in_flight.insert(self.next, now);
            sent.push(self.next);
            self.next += 1;
        }
        sent
    }

    /// An acknowledgement has arrived.
    pub fn acknowledged(&mut self, packet: u64) {
        if self.in_flight.remove(&packet).is_some() {
            self.window = self.window.max(10.0) + if self.is_past_slow_start { 1.0 / self.window } else { 1.0 };
        }
        let lost: BTreeSet<u64> =
            self.in_flight.range(..packet.saturating_sub(REORDERING - 1)).map(|(&number, _)| number).collect();
        self.lose(&lost);
    }

    /// The time at which the oldest packet times out.
    pub fn timeout(&self) -> Option<Duration> {
        self.in_flight.values().min().map(|sent| *sent + TIMEOUT)
    }

    /// Time has passed.
    pub fn tick(&mut self, now: Duration) {
        let lost = self.in_flight.iter().filter(|(_, sent)| **sent + TIMEOUT <= now).map(|(&number, _)| number).collect();
        self.lose(&lost);
    }

    fn lose(&mut self, lost: &BTreeSet<u64>) {
        if lost.last().is_some_and(|&last| last >= self.recovery_until) {
            self.window = (self.window * 0.7).max(2.0);
            self.recovery_until = self.next;
            self.is_past_slow_start = true;
        }
        self.in_flight.retain(|number, _| !lost.contains(number));
    }
}
