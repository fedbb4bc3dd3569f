//! The table of messages, and what other tables report of flows of messages.

use super::state::Engine;
use crate::primitives::ids::FlowId;
use crate::primitives::units::Time;
use crate::record::{Column, Table, named};
use crate::traffic::{MessageFlow, Playback};

impl Engine {
    /// One row per message that is written or requested; `None` if no flow has messages.
    pub(super) fn message_table(&self) -> Option<Table> {
        let fabric = &self.fabric;
        if fabric.messages.flows().len() == 0 {
            return None;
        }
        let (mut flows, mut numbers, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
        let (mut starts, mut completions) = (Vec::new(), Vec::new());
        for flow in fabric.messages.flows() {
            let Some(messages) = self.messages(flow) else { continue };
            for (number, &start) in self.message_starts(messages).iter().enumerate() {
                let delivered = messages.delivered().get(number).filter(|&&time| time < fabric.clock.end());
                flows.push(flow);
                numbers.push(number as u64);
                sizes.push(messages.size(number as u32).0);
                starts.push(start.seconds());
                completions.push(delivered.map_or(f64::NAN, |time| time.since(start).seconds()));
            }
        }
        let (groups, indices) = self.flow_names().columns(&flows);
        let columns = vec![
            ("group", groups),
            ("flow", indices),
            ("message", Column::Integer(numbers)),
            ("size_bytes", Column::Integer(sizes)),
            ("start_s", Column::Float(starts)),
            ("completion_time_s", Column::Float(completions)),
        ];
        Some(named("messages", columns))
    }

    /// Start time of a flow. A connection that follows another starts with its first request; [`Time::NEVER`] until then.
    pub(super) fn start_of(&self, flow: FlowId) -> Time {
        let first = || self.messages(flow).and_then(|messages| self.message_starts(messages).first().copied());
        match self.endpoints.plan(flow).start {
            Time::NEVER => first().unwrap_or(Time::NEVER),
            start => start,
        }
    }

    /// Quality of the playback of each flow, as columns of the table of flows; none if no flow is video.
    pub(super) fn playback_columns(&self, until: Time) -> Vec<(&'static str, Column)> {
        let flows = self.fabric.messages.flows();
        let all: Vec<Option<Playback>> = flows.clone().map(|flow| self.messages(flow)?.playback(until)).collect();
        if all.iter().all(Option::is_none) {
            return Vec::new();
        }
        let column = |value: &dyn Fn(FlowId, &Playback) -> f64| {
            let of_flow = |(flow, playback): (FlowId, &Option<Playback>)| {
                playback.as_ref().map_or(f64::NAN, |playback| value(flow, playback))
            };
            Column::Float(flows.clone().zip(&all).map(of_flow).collect())
        };
        let startup = |flow: FlowId, playback: &Playback| {
            playback.started.map_or(f64::NAN, |time| time.since(self.start_of(flow)).seconds())
        };
        vec![
            ("stalls", column(&|_, playback| playback.stalls.into())),
            ("stalled_s", column(&|_, playback| playback.stalled.seconds())),
            ("bitrate_switches", column(&|_, playback| playback.switches.into())),
            ("mean_bitrate_bps", column(&|_, playback| playback.mean_rate)),
            ("startup_s", column(&startup)),
        ]
    }

    /// The messages of a flow, if it has any.
    pub(super) fn messages(&self, flow: FlowId) -> Option<&MessageFlow> {
        self.fabric.messages.get(flow)
    }

    /// Times at which messages are written or, if they answer requests, requested.
    pub(super) fn message_starts<'a>(&'a self, messages: &'a MessageFlow) -> &'a [Time] {
        messages.requested_on().and_then(|requests| self.messages(requests)).unwrap_or(messages).written()
    }
}
