//! What sending ends do: a TCP sender hears an acknowledgement or that time has passed, and sends what it may; an application hands data to
//! it; a source sends its next datagram.

use super::engine::Engine;
use super::event_order::FlowKind;
use super::fabric::Fabric;
use super::wiring::{first_flows, segments_of};
use super::workshop::Workshop;
use crate::base::packet::Ecn;
use crate::base::random::{Draws, Purpose, Stream};
use crate::base::signal::Signal;
use crate::base::units::{Span, Time};
use crate::congestion::{ControllerSpec, Controllers, Start};
use crate::network::{Flow, Network, Transport};
use crate::tcp::sender::{Arrived, Sender, SenderCounts, Tcp};
use crate::tcp::signals::Brought;
use crate::tcp::{TcpSpec, TimerForm};
use crate::traffic::{Application, Source};
use crate::user_code::{Failure, UserCode};
use serde::{Deserialize, Serialize};

/// The sending end of a flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum End {
    Tcp(Sender),
    Datagram(Box<Source>),
}

impl End {
    /// What became of user code.
    pub(crate) fn failure(&self, time: Time) -> Option<Failure> {
        match self {
            End::Tcp(sender) => sender.controller.failure(time),
            End::Datagram(source) => source.failure(time),
        }
    }

    /// What a sender counts, or as much of it as a source does.
    pub(crate) fn counts(&self) -> SenderCounts {
        match self {
            End::Tcp(sender) => sender.counts,
            End::Datagram(source) => SenderCounts { sent: source.sent_measured, ..SenderCounts::default() },
        }
    }

    /// Segments that wait to be sent for the first time: what an application handed over, or the rest of a transfer. Of a greedy flow
    /// none do.
    pub(crate) fn backlog(&self) -> u32 {
        match self {
            End::Tcp(sender) if sender.limit < u32::MAX => sender.limit - sender.high,
            _ => 0,
        }
    }
}

impl Engine {
    /// An acknowledgement is at its sender.
    #[inline]
    pub(crate) fn on_home(&mut self, flow: u32) {
        let Some(packet) = self.fabric.take_home(flow) else { return };
        let reports = &mut self.fabric.common.reports;
        let report = packet.has_report().then(|| {
            reports.release(packet.ack_word());
            reports.at(packet.ack_word()).received
        });
        let (ack, blocks) = match &report {
            Some(received) => (received.ack, received.ranges()),
            None => (packet.ack_word(), &[][..]),
        };
        let arrived = Arrived { ack, blocks, echo: packet.sent };
        if packet.signals() {
            let signal = if packet.has_report() { reports.at(packet.ack_word()).signal } else { Signal::default() };
            self.on_signal(flow, &packet, arrived, signal);
        } else {
            self.act::<false>(flow, Some(arrived), &Brought::default());
        }
    }

    pub(crate) fn on_timer(&mut self, flow: u32) {
        let End::Tcp(sender) = &self.ends[flow as usize] else { return };
        let deadline = sender.deadline;
        if deadline == Time::NEVER {
            return;
        }
        if deadline > self.now {
            self.fabric.common.calendar.schedule(self.fabric.common.order.flow(FlowKind::Timer, flow), deadline);
            return;
        }
        self.act_in_time(flow);
    }

    /// Give a sender what has happened (an acknowledgement, or else what the time brings), let it send until it has nothing more to send
    /// now, and see to its timers.
    /// `SIGNALLED`: the acknowledgement brings more than most, or the controller asked for signals.
    #[inline]
    pub(crate) fn act<const SIGNALLED: bool>(&mut self, flow: u32, arrived: Option<Arrived>, brought: &Brought) {
        let now = self.now;
        let End::Tcp(sender) = &mut self.ends[flow as usize] else { return };
        let group = self.fabric.paths[flow as usize].wire.group;
        let Transport::Tcp(spec, _) = &self.network.groups[group as usize].transport else { return };
        let clock_phase = match spec.timer.form {
            TimerForm::CoarseBsd { tick } => {
                let index = flow - self.first_flows[group as usize];
                clock_phase(self.network.seed, &self.network.groups[group as usize].name, index, tick)
            }
            _ => Span::ZERO,
        };
        let warmup = self.fabric.common.window.warmup;
        let mut reader = if SIGNALLED { self.fabric.signalled(flow).map(|place| &mut self.readers[place]) } else { None };
        let mut tcp = Tcp { sender, spec, boards: &mut self.boards, now, warmup, clock_phase };
        match &arrived {
            Some(arrived) => {
                let duplicate = arrived.ack <= tcp.sender.una;
                let rtt = tcp.on_ack::<SIGNALLED>(arrived, brought);
                if let Some(reader) = &mut reader {
                    reader.bound_release(tcp.sender);
                }
                if let Some(recorder) = &mut self.fabric.common.recorder {
                    recorder.on_ack(flow, now, arrived.ack, duplicate, rtt, tcp.sender);
                }
            }
            None if tcp.sender.deadline <= now => {
                tcp.on_timeout(self.fabric.paths[flow as usize].counts.completed);
                if let Some(reader) = &mut reader {
                    reader.on_timeout();
                }
                if let Some(recorder) = &mut self.fabric.common.recorder {
                    recorder.on_timeout(flow, now);
                }
            }
            None => {}
        }
        if !self.stops.is_empty() && self.stops.get(&flow).is_some_and(|&stop| now >= stop) {
            tcp.sender.limit = tcp.sender.limit.min(tcp.sender.high);
        }
        while reader.as_mut().is_none_or(|reader| reader.may_send(tcp.sender)) {
            let idle = SIGNALLED && tcp.sender.high == tcp.sender.una;
            let Some((segment, transmission)) = tcp.next_segment() else { break };
            if let Some(reader) = &mut reader {
                reader.on_sent(segment, now, idle);
            }
            let ecn = tcp.announce(transmission == 1);
            let size = if segment + 1 == tcp.sender.limit { self.plans[flow as usize].size } else { u64::MAX };
            let transmission = if transmission == 1 || !self.counts_transmissions {
                transmission
            } else {
                let count = self.transmissions.entry((flow, segment)).or_insert(1);
                *count += 1;
                *count
            };
            let bytes = wire_bytes(spec, size, segment);
            match &reader {
                Some(reader) if reader.prices() => self.fabric.send_priced(now, flow, segment, transmission, bytes, ecn),
                _ => self.fabric.send(now, flow, segment, transmission, bytes, ecn),
            }
        }
        if let Some(reader) = &mut reader {
            reader.on_all_sent(tcp.sender, tcp.sender.window(spec));
        }
        see_to_timers(&mut self.fabric, flow, now, tcp.sender);
        if let Some(recorder) = &mut self.fabric.common.recorder {
            recorder.on_window(flow, now, tcp.sender);
        }
    }

    /// An application hands data to its sender.
    pub(crate) fn on_offer(&mut self, flow: u32) {
        let group = &self.network.groups[self.fabric.paths[flow as usize].wire.group as usize];
        let (Some(application), End::Tcp(sender)) = (&group.application, &mut self.ends[flow as usize]) else { return };
        let Transport::Tcp(spec, _) = &group.transport else { return };
        if self.stops.get(&flow).is_some_and(|&stop| self.now >= stop) {
            return;
        }
        let state = &mut self.applications[flow as usize];
        let next = state.hand_over(self.now, application).filter(|&next| next < self.fabric.common.window.end);
        if let Some(next) = next {
            self.fabric.common.calendar.schedule(self.fabric.common.order.flow(FlowKind::Offer, flow), next);
        }
        sender.offer(state.handed_over(application), self.now, spec);
        self.act_in_time(flow);
    }

    /// A flow starts, may send again, or its source has a datagram.
    pub(crate) fn on_wake(&mut self, flow: u32) {
        let group = &self.network.groups[self.fabric.paths[flow as usize].wire.group as usize];
        let (End::Datagram(source), Transport::Datagram(spec)) = (&mut self.ends[flow as usize], &group.transport) else {
            return self.act_in_time(flow);
        };
        if self.stops.get(&flow).is_some_and(|&stop| self.now >= stop) {
            return;
        }
        let (number, payload) = source.take(spec);
        let next = source.next(self.now, payload, spec).filter(|&next| next < self.fabric.common.window.end);
        source.sent_measured += u32::from(self.now >= self.fabric.common.window.warmup);
        if let Some(next) = next {
            self.fabric.common.calendar.schedule(self.fabric.common.order.flow(FlowKind::Wake, flow), next);
        }
        self.fabric.send(self.now, flow, number, 1, payload + spec.header, Ecn::INCAPABLE);
    }
}

/// Keep the pending timer event at or before the deadline. It is looked at when it comes, not moved with every acknowledgement.
#[inline(always)]
fn see_to_timers(fabric: &mut Fabric, flow: u32, now: Time, sender: &Sender) {
    let slot = fabric.common.order.flow(FlowKind::Timer, flow);
    let pending = fabric.common.calendar.time_of(slot);
    if sender.deadline < pending {
        if pending != Time::NEVER {
            fabric.common.calendar.cancel(slot);
        }
        fabric.common.calendar.schedule(slot, sender.deadline);
    }
    if sender.paced_until > now {
        let slot = fabric.common.order.flow(FlowKind::Wake, flow);
        if fabric.common.calendar.time_of(slot) == Time::NEVER {
            fabric.common.calendar.schedule(slot, sender.paced_until);
        }
    }
}

/// Bytes on the wire of a segment: the last one of a transfer, whose size is given, may be short.
#[inline(always)]
fn wire_bytes(spec: &TcpSpec, size: u64, segment: u32) -> u32 {
    if size == u64::MAX {
        return spec.mss + spec.header;
    }
    let before = u64::from(segment) * u64::from(spec.mss);
    size.saturating_sub(before).clamp(1, u64::from(spec.mss)) as u32 + spec.header
}

/// When the free-running clock of a flow's host ticks first. `index` counts within the group.
fn clock_phase(seed: u64, group: &str, index: u32, tick: Span) -> Span {
    let share = Stream::new(seed, group, u64::from(index), Purpose::TimerPhase).uniform(0);
    Span((share * tick.0 as f64) as u64)
}

pub(crate) fn make_ends(network: &Network, workshop: &Workshop) -> Vec<End> {
    let mut in_group = vec![0u64; network.groups.len()];
    let mut make = |flow: &Flow| {
        let group = &network.groups[flow.group as usize];
        let index = in_group[flow.group as usize];
        in_group[flow.group as usize] += 1;
        match &group.transport {
            Transport::Tcp(spec, law) => {
                let start = Start { window: spec.initial_window, ssthresh: spec.initial_ssthresh };
                let law = match law {
                    ControllerSpec::User(code) => {
                        let draws = Draws::new(Stream::new(network.seed, &group.name, index, Purpose::Controller));
                        let packet = spec.mss + spec.header;
                        Controllers::user(workshop.make(code, |brought| brought.controller(code, start, packet, draws)), start)
                    }
                    law => Controllers::new(law, start),
                };
                let waiting = if group.application.is_some() { 0 } else { segments_of(spec, flow.size) };
                End::Tcp(Sender::new(law, spec, waiting))
            }
            Transport::Datagram(spec) => {
                let make_user = |code: &UserCode, draws| workshop.make(code, |brought| brought.source(code, draws));
                End::Datagram(Box::new(Source::new(spec, network.seed, &group.name, index, make_user)))
            }
        }
    };
    network.flows.iter().map(&mut make).collect()
}

/// The application of every flow, or nothing if no group has one.
pub(crate) fn make_applications(network: &Network) -> Vec<Application> {
    if network.groups.iter().all(|group| group.application.is_none()) {
        return Vec::new();
    }
    let first = first_flows(network);
    let make = |(flow, spec): (u32, &Flow)| {
        let group = &network.groups[spec.group as usize];
        let total = match &group.transport {
            Transport::Tcp(tcp, _) => segments_of(tcp, spec.size),
            Transport::Datagram(_) => 0,
        };
        Application::new(network.seed, &group.name, u64::from(flow - first[spec.group as usize]), total)
    };
    (0..).zip(&network.flows).map(make).collect()
}
