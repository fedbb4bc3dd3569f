//! A port: buffer, transmitters and delay line. It refuses what does not fit; whether more is refused is its policy's decision.

mod ahead;
mod care;
mod channels;
mod delivery;
mod equipment;
mod gather;
mod impairments;
mod sharing;
mod stepped;
mod train;
mod transmitters;

pub(crate) use ahead::Waiting;
pub(crate) use equipment::{Equipment, Kept, Passed, PortCounts};
pub(crate) use gather::Gather;
pub(crate) use impairments::Overtaking;
pub(crate) use sharing::{ClassCounts, QueuesOfFlows, Sharing};
pub(crate) use stepped::{Arrival, Sending, Stepped};

use super::window::Window;
use crate::network;
use crate::primitives::line::{Line, Pool};
use crate::primitives::packet::{Packet, Prices};
use crate::primitives::units::{Bytes, Time};
use crate::queue::{Policies, Reason};
use crate::record::recorder::OccupancyRows;
use crate::user_code::Failure;
use ahead::Ahead;
use care::{Decides, Observes, Plain, Traces};
use channels::Channels;
use serde::{Deserialize, Serialize};
use train::{Mixed, Train};

/// In cache lines: how it is fed and serves; what a packet is measured by; what is counted of it and where it goes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(C, align(64))]
pub(crate) struct Port {
    pub(crate) entry: Entry,
    pub(crate) serves: Serves,
    pub(crate) equipment: Equipment,
    /// Packets on their way to a place that needs an event.
    pub(crate) line: Line,
}

/// How an arrival gets in. Every hop asks: with its tag in a byte of its own (`repr(u8)`) the answer is one comparison, here and below.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(u8)]
pub(crate) enum Entry {
    /// It is there at once: one line feeds the port, in order.
    AtOnce,
    /// It waits for its turn among events: several lines feed the port, or the port is stepped.
    ByEvent,
    /// The same, but acknowledgements fresh from their receivers are put in order here instead of being events.
    Gathered(Box<Gather>),
    /// With its head ([`Switching::CutThrough`](network::Switching::CutThrough)).
    Heads { by_event: bool },
}

/// Whether the departures of a port have to be events.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stepping {
    Needed,
    /// Unless the port has several transmitters and does more than take whatever fits.
    IfNeeded,
}

/// How a port serves: in one of two ways with the same result. *Ahead*: on arrival the departure is computed at once, and what has left by
/// then is struck off; no event is needed. *Stepped*: each departure is an event.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(u8)]
pub(crate) enum Serves {
    /// Ahead, and whatever fits is taken, all of one size as far as it had to wait.
    Plain(Train),
    /// The same where units of several sizes have waited. Most ports of a large network do.
    Mixed(Ahead),
    /// Ahead, with a policy that decides.
    Decides(Ahead),
    /// Ahead, and whatever fits is taken, with a trace.
    Traces(Ahead),
    /// Ahead, with listed drops, random loss or percentiles, or with a policy and a trace.
    Observes(Ahead),
    /// Ahead on several transmitters, and whatever fits is taken.
    Channels(Box<Channels>),
    Stepped(Box<Stepped>),
}

impl Port {
    /// What it has beside itself, without what grows or few ports have.
    pub(crate) const BYTES_APART: usize = Equipment::BYTES_APART;

    /// `policies`: of each queue. `sharing`: what the port has if they are several. `first_transmitter`: its number among those of all
    /// stepped ports, if the port is one.
    pub(crate) fn new(
        spec: &network::Port,
        of: &network::Network,
        (policies, sharing): (Vec<Policies>, Option<Sharing>),
        kept: Kept,
        (stepping, first_transmitter): (Stepping, u32),
    ) -> Port {
        let (queues, takes_all) = (policies.len(), policies.iter().all(Policies::takes_all));
        let equipment = Equipment::new(spec, of, policies, kept);
        let (is_observed, is_traced) = (equipment.observes(), equipment.is_traced());
        let has_channels = spec.transmitters > 1;
        let takes_care = !takes_all || is_observed || is_traced;
        let serves = match () {
            () if stepping == Stepping::Needed || (has_channels && takes_care) => {
                let numbers = first_transmitter..first_transmitter + spec.transmitters;
                Serves::Stepped(Box::new(Stepped::new(spec, numbers, queues, sharing, Time::ZERO + of.warmup)))
            }
            () if has_channels => Serves::Channels(Box::new(Channels::new(spec.transmitters))),
            () if is_observed || (is_traced && !takes_all) => Serves::Observes(Ahead::default()),
            () if is_traced => Serves::Traces(Ahead::default()),
            () if takes_all => Serves::Plain(Train::default()),
            () => Serves::Decides(Ahead::default()),
        };
        Port { entry: Entry::ByEvent, serves, equipment, line: Line::default() }
    }

    /// The same in a part of the run that does not handle it.
    pub(crate) fn of_another_part(&self) -> Port {
        let Port { entry, serves, equipment, line } = self;
        Port { entry: entry.clone(), serves: serves.clone(), equipment: equipment.of_another_part(), line: *line }
    }

    /// A packet arrives at `packet.time` at a port that works ahead. On success the packet's time becomes that at the far end; if the wire
    /// loses it, that of its departure. `None`: the port is stepped.
    #[inline(always)]
    pub(crate) fn pass(
        &mut self,
        packet: &mut Packet,
        bytes: Bytes,
        window: &Window,
        prices: &Prices,
        buffers: &mut Pool<Waiting>,
    ) -> Option<Result<(), Reason>> {
        if let Serves::Plain(train) = &mut self.serves {
            match train.pass(&mut self.equipment, packet, bytes, window, prices) {
                Ok(passed) => return Some(passed),
                Err(Mixed) => self.serves = Serves::Mixed(train.listed(buffers)),
            }
        }
        self.pass_mixed(packet, bytes, window, prices, buffers)
    }

    /// A call, so that ports at which one size waits are not slowed down by the rest.
    #[inline(never)]
    fn pass_mixed(
        &mut self,
        packet: &mut Packet,
        bytes: Bytes,
        window: &Window,
        prices: &Prices,
        buffers: &mut Pool<Waiting>,
    ) -> Option<Result<(), Reason>> {
        if let Serves::Mixed(ahead) = &mut self.serves {
            return Some(ahead.pass::<Plain>(&mut self.equipment, packet, bytes, window, prices, buffers));
        }
        self.pass_with_care(packet, bytes, window, prices, buffers)
    }

    /// One more, so that what a port rarely has costs the others nothing.
    #[inline(never)]
    fn pass_with_care(
        &mut self,
        packet: &mut Packet,
        bytes: Bytes,
        window: &Window,
        prices: &Prices,
        buffers: &mut Pool<Waiting>,
    ) -> Option<Result<(), Reason>> {
        if let Serves::Decides(ahead) = &mut self.serves {
            return Some(ahead.pass::<Decides>(&mut self.equipment, packet, bytes, window, prices, buffers));
        }
        self.pass_observed(packet, bytes, window, prices, buffers)
    }

    #[inline(never)]
    fn pass_observed(
        &mut self,
        packet: &mut Packet,
        bytes: Bytes,
        window: &Window,
        prices: &Prices,
        buffers: &mut Pool<Waiting>,
    ) -> Option<Result<(), Reason>> {
        match &mut self.serves {
            Serves::Channels(channels) => Some(channels.pass(&mut self.equipment, packet, bytes, window, prices)),
            Serves::Traces(ahead) => Some(ahead.pass::<Traces>(&mut self.equipment, packet, bytes, window, prices, buffers)),
            Serves::Observes(ahead) => Some(ahead.pass::<Observes>(&mut self.equipment, packet, bytes, window, prices, buffers)),
            _ => None,
        }
    }

    /// The buffer and transmitters of a stepped port, and what they work with.
    pub(crate) fn stepped_mut(&mut self) -> Option<(&mut Stepped, &mut Equipment)> {
        if let Serves::Stepped(stepped) = &mut self.serves { Some((stepped, &mut self.equipment)) } else { None }
    }

    pub(crate) fn stepped(&self) -> Option<&Stepped> {
        if let Serves::Stepped(stepped) = &self.serves { Some(stepped) } else { None }
    }

    /// Packets under way behind the port, where they overtake one another.
    pub(crate) fn overtaking(&self) -> Option<&Overtaking> {
        self.stepped().and_then(Stepped::overtaking)
    }

    pub(crate) fn overtaking_mut(&mut self) -> Option<&mut Overtaking> {
        self.stepped_mut().and_then(|(stepped, _)| stepped.overtaking_mut())
    }

    /// What waits in the buffer, if each unit is known, and not as a packet in a line of their own.
    pub(crate) fn waiting(&self) -> Option<Line> {
        match &self.serves {
            Serves::Mixed(ahead) | Serves::Decides(ahead) | Serves::Traces(ahead) | Serves::Observes(ahead) => {
                Some(ahead.waiting())
            }
            Serves::Plain(_) | Serves::Channels(_) | Serves::Stepped(_) => None,
        }
    }

    /// What waits is this.
    pub(crate) fn set_waiting(&mut self, waiting: Line) {
        match &mut self.serves {
            Serves::Mixed(ahead) | Serves::Decides(ahead) | Serves::Traces(ahead) | Serves::Observes(ahead) => {
                ahead.set_waiting(waiting);
            }
            Serves::Plain(_) | Serves::Channels(_) | Serves::Stepped(_) => {}
        }
    }

    pub(crate) fn gather_mut(&mut self) -> Option<&mut Gather> {
        if let Entry::Gathered(gather) = &mut self.entry { Some(gather) } else { None }
    }

    /// What became of user code.
    pub(crate) fn failure(&self, time: Time) -> Option<Failure> {
        self.equipment.failure(time)
    }

    /// The rows of a traced port, with what is known to come; nothing of other ports.
    pub(crate) fn trace_rows(&self, buffers: &Pool<Waiting>) -> OccupancyRows<'_> {
        let Some(noted) = &self.equipment.rest.trace else { return OccupancyRows::default() };
        let to_come = match &self.serves {
            Serves::Decides(ahead) | Serves::Traces(ahead) | Serves::Observes(ahead) => {
                ahead.changes_to_come(&self.equipment, noted, buffers)
            }
            Serves::Plain(_) | Serves::Mixed(_) | Serves::Channels(_) | Serves::Stepped(_) => Vec::new(),
        };
        OccupancyRows { noted, to_come }
    }

    /// Rows of what was before `end` are kept no longer, but for the last, which says what stands.
    pub(crate) fn forget_trace_rows(&mut self, end: Time) {
        if let Some(noted) = &mut self.equipment.rest.trace {
            let gone = noted.partition_point(|row| row.0 < end).saturating_sub(1);
            noted.drain(..gone);
        }
    }
}

impl Entry {
    pub(crate) fn needs_event(&self) -> bool {
        !matches!(self, Entry::AtOnce | Entry::Heads { by_event: false })
    }

    pub(crate) fn is_of_heads(&self) -> bool {
        matches!(self, Entry::Heads { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_three_cache_lines() {
        assert_eq!(size_of::<Port>(), 192);
    }
}
