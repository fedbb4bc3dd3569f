//! User-defined clients: they request responses of any size, at times of their choice.
//!
//! The client is called in the writes of the flow of the requests: at its start, when a response is delivered, and at the times for which it
//! asks. The size of a response is announced to the flow of the responses when it is requested.

use super::client::{ClientAction, Occasion, UserApplication};
use super::interface::{Act, FollowUp, Messages};
use crate::primitives::ids::FlowId;
use crate::primitives::sizes::MAX_SEGMENTS;
use crate::primitives::units::{Bytes, Time, TimeDelta};
use crate::user_code::{UserCode, UserObject, fault, only_in_memory};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The requests of a client in user code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UserRequestsSpec {
    pub code: UserCode,
    /// Maximum number of requests.
    pub max_requests: u32,
    /// Maximum segment size of both flows.
    pub mss: Bytes,
    /// The flow of the responses.
    pub responses: FlowId,
}

/// The responses to such a client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UserResponsesSpec {
    pub max_requests: u32,
    /// The flow of the requests.
    pub requests: FlowId,
}

/// Maximum size of a message.
const MAX_MESSAGE: Bytes = Bytes(1 << 32);

/// What happens at a time for which the client asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Planned {
    Request { request: Bytes, response: Bytes },
    Timer,
}

#[derive(Clone, Debug)]
pub(super) struct UserRequests {
    spec: UserRequestsSpec,
    client: UserObject<dyn UserApplication>,
    has_started: bool,
    /// Responses of which the client was notified.
    responses: u32,
    /// By time, then in the order of the decisions.
    agenda: BinaryHeap<Reverse<(Time, u64, Planned)>>,
    decisions: u64,
    /// Requests decided, and segments of both directions.
    requested: u32,
    segments: u64,
    /// Size of each request.
    sizes: Vec<Bytes>,
    /// Sizes of responses that are not announced yet.
    announced: Vec<Bytes>,
}

impl UserRequests {
    pub(super) fn instance(&self) -> &UserObject<dyn UserApplication> {
        &self.client
    }

    /// Calls the client, and returns the times for which it asks.
    fn decide(&mut self, occasion: Occasion, now: Time) -> Vec<Time> {
        let UserRequestsSpec { max_requests, mss, .. } = self.spec;
        let (mut requested, mut segments) = (self.requested, self.segments);
        let actions = self.client.call(|client| {
            let actions = client.act(occasion, now)?;
            for action in &actions {
                match *action {
                    ClientAction::Request { request, response, .. } => {
                        if [request, response].iter().any(|size| *size == Bytes(0) || *size > MAX_MESSAGE) {
                            let sizes = format!("a request of {} bytes with a response of {} bytes", request.0, response.0);
                            return Err(fault(format!("{sizes}; expected 1 to {} each", MAX_MESSAGE.0)));
                        }
                        requested += 1;
                        segments += request.0.div_ceil(mss.0).max(response.0.div_ceil(mss.0));
                        if requested > max_requests {
                            return Err(fault(format!("more than {max_requests} requests, the maximum by `max_requests`")));
                        }
                        if segments > MAX_SEGMENTS {
                            return Err(fault(format!("more than {MAX_SEGMENTS} segments of one flow")));
                        }
                    }
                    ClientAction::Wake(wait) if wait == TimeDelta::ZERO => {
                        return Err(fault("a timer that expires at once; expected a wait above 0 s"));
                    }
                    ClientAction::Wake(_) => {}
                }
            }
            Ok(actions)
        });
        (self.requested, self.segments) = (requested, segments);
        let mut times = Vec::new();
        for action in actions.unwrap_or_default() {
            let (wait, planned) = match action {
                ClientAction::Request { wait, request, response } => (wait, Planned::Request { request, response }),
                ClientAction::Wake(wait) => (wait, Planned::Timer),
            };
            self.agenda.push(Reverse((now + wait, self.decisions, planned)));
            self.decisions += 1;
            times.push(now + wait);
        }
        times
    }
}

impl From<UserRequestsSpec> for UserRequests {
    fn from(spec: UserRequestsSpec) -> UserRequests {
        let client = UserObject::absent(&spec.code);
        UserRequests {
            spec,
            client,
            has_started: false,
            responses: 0,
            agenda: BinaryHeap::new(),
            decisions: 0,
            requested: 0,
            segments: 0,
            sizes: Vec::new(),
            announced: Vec::new(),
        }
    }
}

impl Messages for UserRequests {
    fn count(&self) -> u32 {
        self.spec.max_requests
    }

    fn known(&self) -> u32 {
        self.sizes.len() as u32
    }

    fn size(&self, message: u32) -> Bytes {
        self.sizes[message as usize]
    }

    fn max_size(&self, _message: u32) -> Bytes {
        MAX_MESSAGE
    }

    fn first(&mut self, start: Time) -> Vec<Time> {
        vec![start]
    }

    /// Of the events of one instant, those for which the client asked come first.
    fn act(&mut self, now: Time) -> Act {
        let planned = self.agenda.pop_if_due(now);
        let occasion = match planned {
            Some(Planned::Request { request, response }) => {
                self.sizes.push(request);
                self.announced.push(response);
                return Act::WRITE;
            }
            Some(Planned::Timer) => Occasion::Timer,
            None if self.has_started => {
                self.responses += 1;
                Occasion::Response(self.responses - 1)
            }
            None => {
                self.has_started = true;
                Occasion::Start
            }
        };
        Act { writes: 0, plans: self.decide(occasion, now) }
    }

    fn take_announced(&mut self) -> Option<(FlowId, Vec<Bytes>)> {
        let sizes = std::mem::take(&mut self.announced);
        (!sizes.is_empty()).then_some((self.spec.responses, sizes))
    }

    fn after_delivery(&mut self, _message: u32, time: Time) -> Option<FollowUp> {
        Some(FollowUp { flow: self.spec.responses, at: time })
    }

    fn answers_on(&self) -> Vec<FlowId> {
        vec![self.spec.responses]
    }

    fn joins_ends(&self) -> bool {
        true
    }

    fn is_transfer(&self) -> bool {
        false
    }

    fn user(&mut self) -> Option<(&UserCode, &mut UserObject<dyn UserApplication>)> {
        Some((&self.spec.code, &mut self.client))
    }

    fn user_object(&self) -> Option<&UserObject<dyn UserApplication>> {
        Some(&self.client)
    }
}

only_in_memory!(UserRequests);

trait Agenda {
    fn pop_if_due(&mut self, now: Time) -> Option<Planned>;
}

impl Agenda for BinaryHeap<Reverse<(Time, u64, Planned)>> {
    fn pop_if_due(&mut self, now: Time) -> Option<Planned> {
        self.peek().filter(|Reverse((time, ..))| *time <= now)?;
        self.pop().map(|Reverse((_, _, planned))| planned)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct UserResponses {
    spec: UserResponsesSpec,
    /// Size of each requested response.
    sizes: Vec<Bytes>,
}

impl From<UserResponsesSpec> for UserResponses {
    fn from(spec: UserResponsesSpec) -> UserResponses {
        UserResponses { spec, sizes: Vec::new() }
    }
}

impl Messages for UserResponses {
    fn count(&self) -> u32 {
        self.spec.max_requests
    }

    fn known(&self) -> u32 {
        self.sizes.len() as u32
    }

    fn size(&self, message: u32) -> Bytes {
        self.sizes[message as usize]
    }

    fn max_size(&self, _message: u32) -> Bytes {
        MAX_MESSAGE
    }

    fn first(&mut self, _start: Time) -> Vec<Time> {
        Vec::new()
    }

    fn learn(&mut self, sizes: Vec<Bytes>) {
        self.sizes.extend(sizes);
    }

    fn after_delivery(&mut self, _message: u32, time: Time) -> Option<FollowUp> {
        Some(FollowUp { flow: self.spec.requests, at: time })
    }

    fn answers_on(&self) -> Vec<FlowId> {
        vec![self.spec.requests]
    }

    fn requested_on(&self) -> Option<FlowId> {
        Some(self.spec.requests)
    }

    fn joins_ends(&self) -> bool {
        true
    }

    fn is_transfer(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::user_code::{FailureSignal, Fault};

    /// Requests two responses at the start, and one more after each response and after a timer of 5 ps.
    #[derive(Clone)]
    struct Client(Vec<(Occasion, Time)>);

    impl UserApplication for Client {
        fn act(&mut self, occasion: Occasion, now: Time) -> Result<Vec<ClientAction>, Fault> {
            self.0.push((occasion, now));
            let request =
                |wait, response| ClientAction::Request { wait: TimeDelta(wait), request: Bytes(10), response: Bytes(response) };
            Ok(match occasion {
                Occasion::Start => vec![request(3, 300), request(0, 100), ClientAction::Wake(TimeDelta(5))],
                Occasion::Response(number) => vec![request(1, if number == 0 { 700 } else { 0 })],
                Occasion::Timer => vec![request(0, 500)],
            })
        }

        fn copy(&self) -> Result<Box<dyn UserApplication>, Fault> {
            Ok(Box::new(self.clone()))
        }
    }

    fn requests(max_requests: u32) -> UserRequests {
        let code = UserCode { name: "client".into(), parameters: "{}".into(), at: "flows.web.application".into() };
        let mut requests =
            UserRequests::from(UserRequestsSpec { code: code.clone(), max_requests, mss: Bytes(1000), responses: FlowId(0) });
        requests.client = UserObject::new(&code, Ok(Box::new(Client(Vec::new()))), &FailureSignal::default());
        requests
    }

    #[test]
    fn requests_follow_in_the_order_of_their_times() {
        let mut requests = requests(9);
        let mut act = |now| {
            let Act { writes, plans } = requests.act(Time(now));
            (writes, plans.into_iter().map(|time| time.0).collect::<Vec<_>>(), requests.take_announced().map(|(_, sizes)| sizes))
        };
        assert_eq!(act(10), (0, vec![13, 10, 15], None));
        assert_eq!(act(10), (1, vec![], Some(vec![Bytes(100)])));
        assert_eq!(act(13), (1, vec![], Some(vec![Bytes(300)])));
        assert_eq!(act(15), (0, vec![15], None));
        assert_eq!(act(15), (1, vec![], Some(vec![Bytes(500)])));
        // A response is delivered.
        assert_eq!(act(20), (0, vec![21], None));
        assert_eq!([0, 1, 2].map(|message| requests.size(message)), [Bytes(10); 3]);
        assert!(requests.client.failure(Time(20)).is_none());
    }

    #[test]
    fn a_request_beyond_the_maximum_or_without_data_is_a_failure() {
        let mut few = requests(1);
        few.act(Time(0));
        let failure = few.client.failure(Time(0)).unwrap().to_string();
        assert!(failure.contains("more than 1 requests"), "{failure}");
        let mut empty = requests(9);
        [0, 0, 3, 5, 5].into_iter().for_each(|time| _ = empty.act(Time(time)));
        // The request that follows the second response asks for no bytes.
        [9, 10, 12].into_iter().for_each(|time| _ = empty.act(Time(time)));
        let failure = empty.client.failure(Time(12)).unwrap().to_string();
        assert!(failure.contains("a request of 10 bytes with a response of 0 bytes; expected 1 to 4294967296 each"), "{failure}");
    }
}
