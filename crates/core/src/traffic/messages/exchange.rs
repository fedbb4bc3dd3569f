//! Requests and responses. A client writes requests on one flow, and a server answers each by a response on another, in order.

use super::interface::{FollowUp, Messages};
use crate::primitives::ids::FlowId;
use crate::primitives::units::{Bytes, Time, TimeDelta};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A request and its response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    /// Sizes of the request and the response, at least 1 byte each.
    pub request: Bytes,
    pub response: Bytes,
    /// Time from the delivery of an earlier response to the request.
    pub think_time: TimeDelta,
    /// Time from the delivery of the request to the response, which also waits for the response before.
    pub server_time: TimeDelta,
}

/// The requests of a client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestsSpec {
    pub exchanges: Arc<[Exchange]>,
    /// Requests written at the start of the flow; 0 if the end of another connection causes the first one.
    pub at_start: u32,
    /// The flow of the responses.
    pub responses: FlowId,
}

/// The responses of a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResponsesSpec {
    pub exchanges: Arc<[Exchange]>,
    /// Maximum number of requests without a response.
    pub parallel: u32,
    /// The flow of the requests.
    pub requests: FlowId,
    /// The flow of the first request after the last exchange, and the client's think time before it.
    pub next_connection: Option<(FlowId, TimeDelta)>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Requests {
    spec: RequestsSpec,
    /// Time of the latest response.
    responded: Time,
}

impl From<RequestsSpec> for Requests {
    fn from(spec: RequestsSpec) -> Requests {
        Requests { spec, responded: Time::ZERO }
    }
}

impl Messages for Requests {
    fn count(&self) -> u32 {
        self.spec.exchanges.len() as u32
    }

    fn size(&self, message: u32) -> Bytes {
        self.spec.exchanges[message as usize].request
    }

    fn first(&mut self, start: Time) -> Vec<Time> {
        vec![start; self.spec.at_start.min(self.count()) as usize]
    }

    fn after_delivery(&mut self, message: u32, time: Time) -> Option<FollowUp> {
        self.responded = self.responded.max(time + self.spec.exchanges[message as usize].server_time);
        Some(FollowUp { flow: self.spec.responses, at: self.responded })
    }

    fn answers_on(&self) -> Vec<FlowId> {
        vec![self.spec.responses]
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Responses(ResponsesSpec);

impl From<ResponsesSpec> for Responses {
    fn from(spec: ResponsesSpec) -> Responses {
        Responses(spec)
    }
}

impl Messages for Responses {
    fn count(&self) -> u32 {
        self.0.exchanges.len() as u32
    }

    fn size(&self, message: u32) -> Bytes {
        self.0.exchanges[message as usize].response
    }

    fn first(&mut self, _start: Time) -> Vec<Time> {
        Vec::new()
    }

    fn after_delivery(&mut self, message: u32, time: Time) -> Option<FollowUp> {
        if let Some(next) = self.0.exchanges.get((message + self.0.parallel) as usize) {
            return Some(FollowUp { flow: self.0.requests, at: time + next.think_time });
        }
        let (flow, think_time) = self.0.next_connection?;
        (message + 1 == self.count()).then_some(FollowUp { flow, at: time + think_time })
    }

    fn answers_on(&self) -> Vec<FlowId> {
        std::iter::once(self.0.requests).chain(self.0.next_connection.map(|(flow, _)| flow)).collect()
    }

    fn requested_on(&self) -> Option<FlowId> {
        Some(self.0.requests)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_keep_the_order_of_their_requests() {
        let exchange = |server_time| Exchange {
            request: Bytes(1),
            response: Bytes(1),
            think_time: TimeDelta(5),
            server_time: TimeDelta(server_time),
        };
        let exchanges: Arc<[Exchange]> = [exchange(100), exchange(10), exchange(10)].into();
        let mut requests = Requests::from(RequestsSpec { exchanges: exchanges.clone(), at_start: 2, responses: FlowId(0) });
        assert_eq!(requests.first(Time(3)), [Time(3); 2]);
        let answer = |requests: &mut Requests, message, time| requests.after_delivery(message, Time(time)).unwrap().at;
        assert_eq!([0, 1, 2].map(|message| answer(&mut requests, message, 20)), [Time(120), Time(120), Time(120)]);
        let spec = ResponsesSpec { exchanges, parallel: 2, requests: FlowId(1), next_connection: None };
        let mut responses = Responses::from(spec);
        // Two requests are under way, so that the first response causes the third request, and the others none.
        assert_eq!(responses.after_delivery(0, Time(200)), Some(FollowUp { flow: FlowId(1), at: Time(205) }));
        assert_eq!([1, 2].map(|message| responses.after_delivery(message, Time(300))), [None; 2]);
    }
}
