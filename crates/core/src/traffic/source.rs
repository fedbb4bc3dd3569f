//! A source of datagrams: their times and sizes.

use super::schedule::Schedule;
use super::spec::{Arrivals, DatagramSpec, PacketSize};
use super::user_source::{User, UserSource};
use crate::primitives::random::{Draws, Entity, Purpose, Stream};
use crate::primitives::units::{Bytes, Time, TimeDelta};
use crate::user_code::{Failure, UserCode, UserObject};
use serde::{Deserialize, Serialize};

/// State of one source.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Source {
    schedule: Schedule,
    sizes: Stream,
    /// Datagrams sent within the measured part of the run.
    pub(crate) sent_measured: u32,
    /// Payload that the source itself has not sent yet; the largest number without a size.
    remaining: Bytes,
    /// Time of the last datagram; [`Time::NEVER`] until it is sent.
    pub(crate) finished: Time,
    user: Option<User>,
}

impl Source {
    /// A source of endless data. `make_user` creates the object of user code, with its random draws.
    pub(crate) fn new(
        spec: &DatagramSpec,
        of: Entity,
        make_user: impl FnOnce(&UserCode, Draws) -> UserObject<dyn UserSource>,
    ) -> Source {
        let user = match &spec.arrivals {
            // The same draws as the gaps of a Poisson source.
            Arrivals::User(code) => Some(User::of(make_user(code, Draws::from(Stream::new(of, Purpose::Gap), 0)))),
            _ => None,
        };
        let gap = match (&spec.arrivals, spec.wire_bytes()) {
            (Arrivals::Process(process), Some(bytes)) => process.rate().time_to_send(bytes),
            _ => TimeDelta::ZERO,
        };
        Source {
            schedule: Schedule::new(of, gap),
            sizes: Stream::new(of, Purpose::PacketSize),
            sent_measured: 0,
            remaining: Bytes(u64::MAX),
            finished: Time::NEVER,
            user,
        }
    }

    /// Limit the payload of all datagrams, if a size is given.
    pub(crate) fn with_size(self, size: Option<Bytes>) -> Source {
        Source { remaining: size.unwrap_or(self.remaining), ..self }
    }

    /// The failure of user code, if it has failed.
    pub(crate) fn failure(&self, time: Time) -> Option<Failure> {
        self.user.as_ref().and_then(|user| user.instance().failure(time))
    }

    /// Number of datagrams sent.
    pub(crate) fn sent(&self) -> u32 {
        self.schedule.taken()
    }

    /// Time of the first datagram of a source that starts at `start`; `None` if the source itself sends none.
    pub(crate) fn first(&mut self, start: Time, spec: &DatagramSpec) -> Option<Time> {
        match &spec.arrivals {
            Arrivals::User(_) => self.user_next(start, spec),
            Arrivals::Process(process) => Some(process.first(start, &mut self.schedule)),
            Arrivals::External => None,
        }
    }

    /// Time of the datagram after the one with this payload that left at `now`; `None` after the last.
    pub(crate) fn next(&mut self, now: Time, payload: Bytes, spec: &DatagramSpec) -> Option<Time> {
        if self.remaining == Bytes(0) {
            self.finished = now;
            return None;
        }
        match &spec.arrivals {
            Arrivals::User(_) => self.user_next(now, spec),
            Arrivals::Process(process) if process.is_of_datagrams() => {
                let sending = process.rate().time_to_send(payload + spec.header);
                Some(process.next(now + sending, &mut self.schedule))
            }
            Arrivals::Process(process) => Some(process.next(now, &mut self.schedule)),
            Arrivals::External => None,
        }
    }

    /// Counts a datagram sent by the caller. Returns its number.
    pub(crate) fn inject(&mut self) -> u32 {
        self.schedule.take()
    }

    /// Number and payload of the next datagram, which is sent now. The last one has the rest of the size.
    pub(crate) fn take(&mut self, spec: &DatagramSpec) -> (u32, Bytes) {
        let number = self.schedule.take();
        let bytes = match spec.packet {
            PacketSize::Fixed(bytes) => bytes,
            PacketSize::Exponential { mean, maximum } => whole_bytes(self.sizes.exponential(number.into()) * mean).min(maximum),
            PacketSize::Given { maximum } => self.user.as_ref().map_or(Bytes(1), User::due).min(maximum),
        }
        .min(self.remaining);
        if self.remaining != Bytes(u64::MAX) {
            self.remaining -= bytes;
        }
        (number, bytes)
    }

    fn user_next(&mut self, now: Time, spec: &DatagramSpec) -> Option<Time> {
        let max = if let PacketSize::Given { maximum } = spec.packet { maximum } else { Bytes(0) };
        let number = u64::from(self.schedule.taken());
        self.user.as_mut()?.next(now, number, max)
    }
}

/// Rounds to the nearest byte, so that rounding has no bias, with a minimum of 1.
fn whole_bytes(drawn: f64) -> Bytes {
    Bytes(((drawn + 0.5) as u64).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::math::ln;
    use crate::primitives::units::Rate;
    use crate::traffic::{ConstantSpec, ProcessSpec};

    #[test]
    fn a_source_ends_with_the_rest_of_its_size() {
        let arrivals = Arrivals::Process(ProcessSpec::Constant(ConstantSpec { rate: Rate(8_000_000) }));
        let spec = DatagramSpec { arrivals, packet: PacketSize::Fixed(Bytes(1000)), header: Bytes(0) };
        let of = Entity { seed: 1, name: "test", index: 0 };
        let mut source = Source::new(&spec, of, |_, _| unreachable!("no user code")).with_size(Some(Bytes(2500)));
        let mut next = source.first(Time::ZERO, &spec);
        let mut sent = Vec::new();
        while let Some(now) = next {
            let (_, payload) = source.take(&spec);
            sent.push((now.seconds(), payload.0));
            next = source.next(now, payload, &spec);
        }
        assert_eq!(sent, [(0.0, 1000), (0.001, 1000), (0.002, 500)]);
        assert_eq!(source.finished.seconds(), 0.002);
    }

    #[test]
    fn whole_bytes_add_less_than_half_a_byte_over_the_mean() {
        // Over a million equally probable sizes; the tail beyond the last of them is less than a hundred-thousandth of the mean.
        for mean in [4.0, 20.0, 100.0, 1500.0] {
            let sizes = (0..1_000_000).map(|place| -mean * ln(1.0 - (f64::from(place) + 0.5) / 1e6));
            let excess = sizes.map(|size| whole_bytes(size).0 as f64).sum::<f64>() / 1e6 - mean;
            assert!(excess.abs() < 0.5 / mean + 1e-5 * mean, "{mean}: {excess}");
        }
    }
}
