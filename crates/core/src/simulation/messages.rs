//! The messages of all flows, and their delivery to the applications.

use super::agenda::Agenda;
use super::event_order::Event;
use super::measurement_interval::MeasurementInterval;
use super::path::Path;
use crate::network::{Flow, Network};
use crate::primitives::ids::FlowId;
use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::units::Time;
use crate::traffic::{FollowUp, MessageFlow};
use serde::{Deserialize, Serialize};

/// By flow; empty if no flow has messages.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Messages(Vec<Option<Box<MessageFlow>>>);

impl Messages {
    pub(crate) fn new(network: &Network) -> Messages {
        if network.messages.is_empty() {
            return Messages(Vec::new());
        }
        let of_flow = |(id, flow): (FlowId, &Flow)| {
            let spec = network.messages.get(&id)?.clone();
            let tcp = network.groups[flow.group].transport.expect_tcp();
            Some(Box::new(MessageFlow::new(spec, tcp.mss, tcp.first_data())))
        };
        Messages(FlowId::enumerate(&network.flows).map(of_flow).collect())
    }

    /// The flows, if any of them has messages.
    pub(crate) fn flows(&self) -> impl ExactSizeIterator<Item = FlowId> + Clone + use<> {
        FlowId::all(self.0.len())
    }

    /// The messages of a flow, if it has any.
    pub(crate) fn get(&self, flow: FlowId) -> Option<&MessageFlow> {
        self.0.get(flow.index())?.as_deref()
    }

    pub(crate) fn get_mut(&mut self, flow: FlowId) -> Option<&mut MessageFlow> {
        self.0.get_mut(flow.index())?.as_deref_mut()
    }

    /// The messages of the flows that have them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &MessageFlow> {
        self.0.iter().flatten().map(|messages| &**messages)
    }

    /// Whether the data of a flow are messages.
    #[inline]
    pub(crate) fn are_of(&self, flow: FlowId) -> bool {
        matches!(self.0.get(flow.index()), Some(Some(_)))
    }

    /// The messages of a flow that has them.
    pub(crate) fn expect(&mut self, flow: FlowId) -> &mut MessageFlow {
        match self.0.get_mut(flow.index()) {
            Some(Some(messages)) => messages,
            _ => unreachable!("flow {flow} has no messages"),
        }
    }

    /// The receiver of a flow has the whole transfer or, for a flow of messages, another message.
    #[cold]
    #[inline(never)]
    pub(crate) fn complete(
        &mut self,
        path: &mut Path,
        flow: FlowId,
        time: Time,
        interval: &MeasurementInterval,
        agenda: &mut Agenda,
    ) {
        if self.are_of(flow)
            && let Some(next) = self.deliver(flow, path.receiver.expected, time, interval, agenda)
        {
            path.complete_at = next;
            return;
        }
        // A FIN may follow the data.
        path.counts.completed = path.counts.completed.min(time);
    }

    /// A receiver has all segments before `expected`, which may complete messages. Returns the end of the next one, or `None` if the flow is complete.
    fn deliver(
        &mut self,
        flow: FlowId,
        expected: SegmentNumber,
        time: Time,
        interval: &MeasurementInterval,
        agenda: &mut Agenda,
    ) -> Option<SegmentNumber> {
        if time >= interval.end {
            // No application acts after the end of the run.
            return Some(SegmentNumber::NONE);
        }
        loop {
            let messages = self.expect(flow);
            messages.await_known();
            if messages.awaited() > expected {
                break;
            }
            if let Some(FollowUp { flow, at }) = messages.deliver(time)
                && at < interval.end
            {
                self.expect(flow).plan_write(at);
                agenda.at_latest(Event::AppWrite(flow), at);
            }
        }
        let messages = self.expect(flow);
        (!messages.is_complete()).then(|| messages.awaited())
    }
}
