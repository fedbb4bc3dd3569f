//! A source of datagrams: when it sends next, and how much.

use super::schedule::Schedule;
use super::spec::{Arrivals, DatagramSpec, PacketSize};
use super::user::User;
use crate::base::random::{Draws, Purpose, Stream};
use crate::base::units::Time;
use crate::code::{Failure, Workshop};
use serde::{Deserialize, Serialize};

/// The state of one source.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Source {
    schedule: Schedule,
    sizes: Stream,
    /// Datagrams sent within the measured part of the run.
    pub(crate) sent_measured: u32,
    user: Option<User>,
}

impl Source {
    pub(crate) fn new(spec: &DatagramSpec, seed: u64, group: &str, index: u64, workshop: &Workshop) -> Source {
        let user = match &spec.arrivals {
            // The same draws as a Poisson source's gaps.
            Arrivals::User(code) => {
                let draws = Draws::from(Stream::new(seed, group, index, Purpose::Gap), 0);
                Some(User::of(workshop.make(code, |brought| brought.source(code, draws))))
            }
            _ => None,
        };
        Source {
            schedule: Schedule::new(seed, group, index),
            sizes: Stream::new(seed, group, index, Purpose::PacketSize),
            sent_measured: 0,
            user,
        }
    }

    /// What became of user code.
    pub(crate) fn failure(&self, time: Time) -> Option<Failure> {
        self.user.as_ref().and_then(|user| user.instance().failure(time))
    }

    /// Datagrams sent.
    pub(crate) fn sent(&self) -> u32 {
        self.schedule.taken()
    }

    /// When the first datagram leaves, for a source that starts at `start`; `None` if there is none that the source itself sends.
    pub(crate) fn first(&mut self, start: Time, spec: &DatagramSpec) -> Option<Time> {
        if self.user.is_some() { self.user_next(start, spec) } else { self.schedule.first(start, &spec.arrivals) }
    }

    /// When the datagram after the one that left at `now` leaves.
    pub(crate) fn next(&mut self, now: Time, spec: &DatagramSpec) -> Option<Time> {
        if self.user.is_some() { self.user_next(now, spec) } else { self.schedule.next(now, &spec.arrivals) }
    }

    /// Send a datagram of the caller's. Returns its number.
    pub(crate) fn inject(&mut self) -> u32 {
        self.schedule.take()
    }

    /// Number and payload bytes of the next datagram, which is sent now.
    pub(crate) fn take(&mut self, spec: &DatagramSpec) -> (u32, u32) {
        let number = self.schedule.take();
        let bytes = match spec.packet {
            PacketSize::Fixed(bytes) => bytes,
            PacketSize::Exponential { mean, maximum } => {
                ((self.sizes.exponential(number.into()) * mean + 0.5) as u32).clamp(1, maximum)
            }
            PacketSize::Given { maximum } => self.user.as_ref().map_or(1, User::due).min(maximum),
        };
        (number, bytes)
    }

    fn user_next(&mut self, now: Time, spec: &DatagramSpec) -> Option<Time> {
        let most = if let PacketSize::Given { maximum } = spec.packet { maximum } else { 0 };
        let number = u64::from(self.schedule.taken());
        self.user.as_mut()?.next(now, number, most)
    }
}
