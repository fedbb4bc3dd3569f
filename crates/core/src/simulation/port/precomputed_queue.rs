//! A port that computes departures on arrival and lists each queued unit: for a policy that decides, for a trace, or where units of several
//! sizes are queued.

use super::equipment::{BufferState, Equipment};
use super::passage::Passage;
use super::port_features::PortFeatures;
use crate::primitives::ids::FlowId;
use crate::primitives::pooled_queue::{Pool, PooledQueue};
use crate::primitives::units::{Bytes, Time, Units};
use crate::queue::DropReason;
use serde::{Deserialize, Serialize};

/// The buffer and the transmitter. Departed units are removed at the next arrival.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct PrecomputedQueue {
    /// When the transmitter becomes idle.
    free: Time,
    waiting: PooledQueue,
    waiting_bytes: Bytes,
    /// Size of the unit last taken into service.
    serving_bytes: u32,
    /// Flow of the unit in service, if that unit occupies the buffer and the policy tracks flows.
    serving_flow: Option<FlowId>,
}

/// A queued unit.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct QueuedUnit {
    /// Start of its service.
    pub(super) start: Time,
    bytes: u32,
    flow: FlowId,
}

impl PrecomputedQueue {
    /// A packet arrives at its time. On success that becomes its arrival at the far end; if the link loses it, its
    /// departure.
    #[inline(always)]
    pub(super) fn pass<C: PortFeatures>(
        &mut self,
        equipment: &mut Equipment,
        passage: &mut Passage,
        buffers: &mut Pool<QueuedUnit>,
    ) -> Result<(), DropReason> {
        let (bytes, interval, now, flow) = (passage.bytes, passage.interval, passage.packet.time, passage.packet.flow);
        if C::HAS_OBSERVERS {
            equipment.survives_approach(now, interval)?;
        }
        self.strike_off::<C>(equipment, now, buffers);
        let busy = self.free > now;
        let in_service = u64::from(busy && equipment.counts_in_service);
        let units = Units(u64::from(self.waiting.len()) + in_service);
        let held_bytes = self.waiting_bytes + Bytes(in_service * u64::from(self.serving_bytes));
        let held = BufferState { busy, units, bytes: held_bytes, idle: now.since(self.free), transmitters: 1 };
        if let Err(reason) = equipment.admit::<C>(passage, &held, None) {
            equipment.rest.counts.discard(reason, now, interval);
            return Err(reason);
        }
        let start = self.free.max(now);
        let departure = start + equipment.service(bytes);
        self.free = departure;
        if busy {
            buffers.push(&mut self.waiting, QueuedUnit { start, bytes: bytes.0 as u32, flow });
            self.waiting_bytes += bytes;
        } else {
            self.serving_bytes = bytes.0 as u32;
        }
        if C::HAS_POLICY && (busy || equipment.counts_in_service) {
            equipment.note_enqueued(0, flow);
            if !busy {
                self.serving_flow = Some(flow);
            }
        }
        if C::HAS_TRACE {
            self.note_change(equipment, now);
        }
        equipment.count_through::<C>([now, start, departure], bytes, &held, interval);
        passage.packet.time = departure;
        if C::HAS_OBSERVERS {
            equipment.note_departure(flow, departure, bytes, interval);
            equipment.survives_wire([now, departure], interval)?;
        }
        passage.packet.time = departure + equipment.delay;
        passage.packet.next_hop();
        Ok(())
    }

    /// An empty queue; a unit of this size is, or was last, in service.
    pub(super) fn serving(free: Time, bytes: Bytes) -> PrecomputedQueue {
        PrecomputedQueue { free, serving_bytes: bytes.0 as u32, ..PrecomputedQueue::default() }
    }

    /// Queue a unit behind all others. Its flow is not recorded.
    pub(super) fn wait(&mut self, start: Time, bytes: Bytes, buffers: &mut Pool<QueuedUnit>) {
        buffers.push(&mut self.waiting, QueuedUnit { start, bytes: bytes.0 as u32, flow: FlowId(0) });
        self.waiting_bytes += bytes;
    }

    pub(super) fn waiting(&self) -> PooledQueue {
        self.waiting
    }

    pub(super) fn set_waiting(&mut self, waiting: PooledQueue) {
        self.waiting = waiting;
    }

    /// Remove the units that have gone into service by `now` and the units that have left.
    #[inline]
    fn strike_off<C: PortFeatures>(&mut self, equipment: &mut Equipment, now: Time, buffers: &mut Pool<QueuedUnit>) {
        while let Some(&QueuedUnit { start, bytes, flow }) = buffers.front(&self.waiting).filter(|waiting| waiting.start <= now) {
            buffers.pop(&mut self.waiting);
            self.serving_bytes = bytes;
            self.waiting_bytes -= Bytes(bytes.into());
            if C::HAS_POLICY {
                let left = if equipment.counts_in_service { self.serving_flow.replace(flow) } else { Some(flow) };
                leave(equipment, left);
            }
            if C::HAS_TRACE {
                self.note_change(equipment, start);
            }
        }
        if C::HAS_POLICY && self.free <= now {
            let left = self.serving_flow.take();
            leave(equipment, left);
        }
        if C::HAS_TRACE && self.free <= now {
            self.note_last_departure(equipment);
        }
    }

    /// Add a trace row with a unit in service: a unit has arrived, or the one before it has left.
    #[inline]
    fn note_change(&self, equipment: &mut Equipment, at: Time) {
        let in_service = u32::from(equipment.counts_in_service);
        if let Some(trace) = equipment.trace_mut() {
            trace.push((at, self.waiting.len() + in_service));
        }
    }

    /// The transmitter is idle and the queue empty: add a trace row, if the unit that left was counted.
    #[inline]
    fn note_last_departure(&self, equipment: &mut Equipment) {
        if let Some(trace) = equipment.trace_mut()
            && trace.last().is_some_and(|row| row.1 > 0)
        {
            trace.push((self.free, 0));
        }
    }

    /// Trace rows of known future changes: each queued unit goes into service, and the last one leaves. `noted`: the rows recorded already.
    pub(super) fn changes_to_come(
        &self,
        equipment: &Equipment,
        noted: &[(Time, u32)],
        buffers: &Pool<QueuedUnit>,
    ) -> Vec<(Time, u32)> {
        let (still, in_service) = (self.waiting.len(), u32::from(equipment.counts_in_service));
        let served = buffers.iter(&self.waiting).zip(1..).map(|(waiting, gone)| (waiting.start, still - gone + in_service));
        let is_served = equipment.counts_in_service && noted.last().is_some_and(|row| row.1 > 0);
        served.chain(is_served.then_some((self.free, 0))).collect()
    }
}

#[inline]
fn leave(equipment: &mut Equipment, flow: Option<FlowId>) {
    if let Some(flow) = flow {
        equipment.note_dequeued(0, flow);
    }
}
