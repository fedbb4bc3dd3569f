//! The messages of flows whose application writes messages, and the flows of requests.

use super::groups::Groups;
use super::transport;
use crate::distribution::{Distribution, Nth};
use crate::problem::{Report, key};
use crate::quantity::{Duration, Quantity, Size};
use crate::schema::{Application, Connections, Description, Requests, Script, UserClient, Video};
use crate::user_code;
use crate::values::Name;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use tailback_core::network::{Change, ChangeKind, Flow, FlowId, Group, GroupId, MAX_SEGMENTS, Transport};
use tailback_core::primitives::random::{Entity, Purpose, Stream};
use tailback_core::primitives::units::{Bytes, Rate, Time, TimeDelta};
use tailback_core::traffic::{
    Exchange, MessagesSpec, RequestsSpec, ResponsesSpec, ScriptSpec, ScriptedWrite, UserRequestsSpec, UserResponsesSpec,
    VideoSpec,
};

/// Maximum number of requests of a group.
const MAX_REQUESTS: u64 = 10_000_000;

/// The messages of all flows. Adds the groups and flows of requests.
pub(super) fn messages(
    description: &Description,
    groups: &Groups,
    changes: &[Change],
    (core_groups, flows): (&mut Vec<Group>, &mut Vec<Flow>),
    report: &mut Report,
) -> BTreeMap<FlowId, MessagesSpec> {
    let mut messages = BTreeMap::new();
    if !report.is_empty() {
        // Indices of groups and flows are valid only if all of them are.
        return messages;
    }
    for (index, (name, flow)) in (0..).zip(&description.flows) {
        let at = format!("flows.{name}");
        let Some(application) = flow.application.as_ref().filter(|application| application.word().is_some()) else { continue };
        let Some(of_group) = groups.flows(name.as_str(), &at, report) else { continue };
        if flow.size.is_some() {
            refuse(application, &format!("{at}.size"), report);
        }
        let group = GroupId(index);
        let mss = match (&core_groups[group.index()].transport, flow.tcp.as_ref().and_then(|tcp| tcp.stack())) {
            (Transport::Tcp(tcp, _), _) => tcp.mss,
            (Transport::Datagram(_), Some(stack)) => transport::segment_of_stack(stack),
            (Transport::Datagram(_), None) => continue,
        };
        let of = MessageGroup {
            name,
            at: &format!("{at}.application"),
            seed: description.seed.0,
            mss: mss.0,
            end: Time::ZERO + description.duration.time_delta(),
            flows: of_group.clone(),
        };
        match application {
            Application::Script(script) => of.scripts(script, flows, &mut messages, report),
            Application::Requests(_) | Application::Video(_) | Application::User(_) => {
                let is_in_cells = flow.framing.is_some();
                if is_in_cells {
                    refuse(application, &format!("{at}.framing"), report);
                }
                let is_rerouted =
                    |change: &Change| matches!(change.what, ChangeKind::Route(flow, ..) if of_group.contains(&flow));
                if changes.iter().any(is_rerouted) {
                    refuse(application, "timeline", report);
                }
                let asking = of.request_flows(group, core_groups, flows);
                match application {
                    Application::Video(video) => of.videos(video, asking, flows, &mut messages, report),
                    Application::Requests(requests) => of.exchanges(requests, asking, flows, &mut messages, report),
                    Application::User(client) => of.clients(client, asking, &mut messages),
                    _ => {}
                }
            }
            Application::Bursts(_) => {}
        }
    }
    messages
}

/// Reports a setting that this kind of application does not support.
fn refuse(application: &Application, at: &str, report: &mut Report) {
    if report.is_valid(at) {
        let word = application.word().unwrap_or_default();
        let message = format!("{} cannot be combined with `application` of kind `{word}`", key(at));
        report.add(at, message).expected(format!("no {}, or another application", key(at)));
    }
}

/// The number of an exchange, and of the flow of the scenario that it belongs to.
struct Place {
    session: u64,
    number: u64,
}

/// A flow group whose application writes messages.
struct MessageGroup<'d> {
    name: &'d Name,
    /// Path of the application.
    at: &'d str,
    seed: u64,
    mss: u64,
    /// End of the run.
    end: Time,
    flows: Range<FlowId>,
}

impl MessageGroup<'_> {
    fn ids(&self) -> impl Iterator<Item = FlowId> + use<> {
        (self.flows.start.0..self.flows.end.0).map(FlowId)
    }

    fn scripts(&self, script: &Script, flows: &mut [Flow], messages: &mut BTreeMap<FlowId, MessagesSpec>, report: &mut Report) {
        let write =
            |write: &crate::writes::Write| ScriptedWrite { at: write.at.time_delta(), size: Bytes(write.size.bytes(self.mss)) };
        let writes: Arc<[ScriptedWrite]> = script.writes.0.iter().map(write).collect();
        let last = writes.last().map_or(TimeDelta::ZERO, |write| write.at);
        let repeat = script.repeat.map(|period| period.time_delta());
        let at = format!("{}.repeat", self.at);
        if repeat.is_some_and(|period| period <= last) && report.is_valid(&at) {
            let problem = report.add(at, "`repeat` is not longer than the script");
            let last = script.writes.0.last().map(|write| write.at.to_string()).unwrap_or_default();
            problem.given(script.repeat.map(|period| period.to_string()).unwrap_or_default());
            problem.expected(format!("more than {last}, the time of the last write"));
            return;
        }
        for id in self.ids() {
            let flow = &mut flows[id.index()];
            let left = self.end.min(flow.stop).since(flow.start);
            let count = match repeat {
                None => writes.len() as u64,
                Some(period) => {
                    let rounds = left.0 / period.0;
                    let rest = TimeDelta(left.0 % period.0);
                    rounds.saturating_mul(writes.len() as u64) + writes.iter().filter(|write| write.at < rest).count() as u64
                }
            };
            let total: u64 = writes.iter().map(|write| write.size.0).fold(0, u64::saturating_add);
            let rounds = count.div_ceil(writes.len() as u64);
            let segments = writes.iter().map(|write| write.size.0.div_ceil(self.mss)).fold(0, u64::saturating_add);
            if !self.fits(segments.saturating_mul(rounds), report) {
                return;
            }
            flow.size = repeat.is_none().then_some(Bytes(total));
            let spec = ScriptSpec { writes: Arc::clone(&writes), repeat, count: count as u32 };
            messages.insert(id, MessagesSpec::Script(spec));
        }
    }

    /// Adds the group and the flows of the requests. Returns the first of them. They are in the order of the flows of the responses.
    fn request_flows(&self, responses: GroupId, groups: &mut Vec<Group>, flows: &mut Vec<Flow>) -> FlowId {
        let first = FlowId(flows.len() as u32);
        let group = GroupId(groups.len() as u32);
        let of = &mut groups[responses.index()];
        let requests = Group {
            name: format!("{}.requests", of.name),
            send_processing: of.receive_processing,
            receive_processing: of.send_processing,
            ..of.clone()
        };
        // The client opens the connection. The server has no RTT sample of that handshake, which may meet full queues.
        if let Transport::Tcp(spec, _) = &mut of.transport {
            spec.established &= !spec.handshake;
            spec.handshake = false;
        }
        groups.push(requests);
        for id in self.ids() {
            let of = flows[id.index()].clone();
            flows.push(Flow {
                group,
                forward: of.backward,
                backward: of.forward,
                sender_access: of.receiver_access,
                receiver_access: of.sender_access,
                interface: None,
                ..of
            });
        }
        first
    }

    /// The exchanges of each flow. `asking`: the first flow of the requests.
    fn exchanges(
        &self,
        requests: &Requests,
        asking: FlowId,
        flows: &mut [Flow],
        messages: &mut BTreeMap<FlowId, MessagesSpec>,
        report: &mut Report,
    ) {
        let count = requests.requests.0;
        if !self.have_values(requests, report) {
            return;
        }
        let (connections, of_each) = match requests.connections {
            Connections::Persistent => (1, count),
            Connections::New => (count, 1),
        };
        let parallel = match requests.connections {
            Connections::Persistent => requests.parallel.0 as u32,
            Connections::New => 1,
        };
        let ids: Vec<FlowId> = self.ids().collect();
        for (session, connected) in (0..).zip(ids.chunks(connections as usize)) {
            for (connection, &id) in (0..).zip(connected) {
                let first = connection * of_each;
                let all = first..first + of_each;
                let exchanges: Arc<[Exchange]> = all.map(|number| self.exchange(requests, Place { session, number })).collect();
                let asks = FlowId(asking.0 + (id - self.flows.start));
                let next = (connection + 1 < connections).then(|| {
                    let next = Place { session, number: first + of_each };
                    let think_time = self.exchange(requests, next).think_time;
                    (FlowId(asks.0 + 1), think_time)
                });
                for (id, size) in
                    [(id, (|exchange| exchange.response) as fn(&Exchange) -> Bytes), (asks, |exchange| exchange.request)]
                {
                    let sizes = || exchanges.iter().map(|exchange| size(exchange).0);
                    let segments = sizes().map(|size| size.div_ceil(self.mss)).fold(0, u64::saturating_add);
                    if !self.fits(segments, report) {
                        return;
                    }
                    flows[id.index()].size = Some(Bytes(sizes().sum()));
                }
                let at_start = if connection == 0 { parallel } else { 0 };
                let asked = RequestsSpec { exchanges: Arc::clone(&exchanges), at_start, responses: id };
                messages.insert(asks, MessagesSpec::Requests(asked));
                let answered = ResponsesSpec { exchanges, parallel, requests: asks, next_connection: next };
                messages.insert(id, MessagesSpec::Responses(answered));
            }
        }
    }

    /// The chunks of each flow. `asking`: the first flow of the requests.
    fn videos(
        &self,
        video: &Video,
        asking: FlowId,
        flows: &mut [Flow],
        messages: &mut BTreeMap<FlowId, MessagesSpec>,
        report: &mut Report,
    ) {
        let (chunk, max_buffer) = (video.chunk.time_delta(), video.max_buffer.time_delta());
        let start_buffer = video.start_buffer.map_or(chunk, |buffer| buffer.time_delta());
        let mut refuse = |key: &str, is_wrong: bool, message: &str, expected: &str| {
            let at = format!("{}.{key}", self.at);
            if is_wrong && report.is_valid(&at) {
                report.add(at, message).expected(expected);
            }
        };
        refuse("chunk", chunk == TimeDelta::ZERO, "`chunk` is zero", "more than 0 s");
        refuse("ladder", video.ladder.is_empty(), "`ladder` has no bit rates", "at least one bit rate");
        let ascends = video.ladder.windows(2).all(|pair| pair[0] < pair[1]);
        refuse("ladder", !ascends, "`ladder` is not ascending", "bit rates in ascending order");
        refuse("request_size", video.request_size == Size::new(0), "`request_size` is zero", "at least 1 B");
        let needed = start_buffer + chunk;
        let expected = format!("at least {}: `start_buffer` and a chunk", Duration::new(needed.0));
        refuse("max_buffer", max_buffer < needed, "`max_buffer` has no room for a chunk", &expected);
        if !report.is_empty() {
            return;
        }
        let ladder: Arc<[Rate]> = video.ladder.iter().map(|rate| rate.rate()).collect();
        for (place, id) in (0..).zip(self.ids()) {
            let left = self.end.min(flows[id.index()].stop).since(flows[id.index()].start);
            // A request waits for room in the buffer, which is played.
            let most = (left + max_buffer).0 / chunk.0 + 1;
            let count = video.chunks.map_or(most, |chunks| chunks.0.min(most));
            let largest = (ladder[ladder.len() - 1].0 as f64 * chunk.seconds() / 8.0) as u64;
            if !self.fits(largest.div_ceil(self.mss).max(1).saturating_mul(count), report) {
                return;
            }
            let asks = FlowId(asking.0 + place);
            let request = Bytes(video.request_size.bytes());
            flows[asks.index()].size = Some(Bytes(request.0 * count));
            // The response to each request is a chunk, whose size is not known here.
            let exchange = Exchange { request, response: Bytes(1), think_time: TimeDelta::ZERO, server_time: TimeDelta::ZERO };
            let exchanges = vec![exchange; count as usize].into();
            messages.insert(asks, MessagesSpec::Requests(RequestsSpec { exchanges, at_start: 1, responses: id }));
            let spec = VideoSpec {
                chunk,
                ladder: Arc::clone(&ladder),
                count: count as u32,
                start_buffer,
                max_buffer,
                adaptation: video.adaptation.0,
                requests: asks,
            };
            messages.insert(id, MessagesSpec::Video(spec));
        }
    }

    /// The clients in user code. `asking`: the first flow of the requests.
    fn clients(&self, client: &UserClient, asking: FlowId, messages: &mut BTreeMap<FlowId, MessagesSpec>) {
        let code = user_code::code(&client.kind, &client.parameters, self.at.into());
        let (max_requests, mss) = (client.max_requests.0 as u32, Bytes(self.mss));
        for (place, responses) in (0..).zip(self.ids()) {
            let requests = FlowId(asking.0 + place);
            let spec = UserRequestsSpec { code: code.clone(), max_requests, mss, responses };
            messages.insert(requests, MessagesSpec::UserRequests(spec));
            messages.insert(responses, MessagesSpec::UserResponses(UserResponsesSpec { max_requests, requests }));
        }
    }

    /// An exchange of a flow of the scenario, which may have several connections.
    fn exchange(&self, requests: &Requests, Place { session, number }: Place) -> Exchange {
        let nth = Nth { index: number, count: requests.requests.0 };
        let stream =
            |purpose| Stream::new(Entity { seed: self.seed, name: self.name.as_str(), index: session << 32 | number }, purpose);
        let max = self.mss.saturating_mul(MAX_SEGMENTS);
        let size = |sizes: &Distribution<Size>, purpose| Bytes(sizes.draw_within(0..=max, nth, || stream(purpose)).max(1));
        Exchange {
            request: size(&requests.request_size, Purpose::Request),
            response: size(&requests.response_size, Purpose::Response),
            think_time: TimeDelta(requests.think_time.draw(nth, || stream(Purpose::ThinkTime))),
            server_time: TimeDelta(requests.server_time.draw(nth, || stream(Purpose::ServerTime))),
        }
    }

    /// Reports lists that do not have one value per request, and several requests in parallel on new connections.
    fn have_values(&self, requests: &Requests, report: &mut Report) -> bool {
        fn length<Q: Quantity>(distribution: &Distribution<Q>) -> Option<u64> {
            distribution.list_length().map(|length| length as u64)
        }
        let lengths = [
            ("request_size", length(&requests.request_size)),
            ("response_size", length(&requests.response_size)),
            ("think_time", length(&requests.think_time)),
            ("server_time", length(&requests.server_time)),
        ];
        let count = requests.requests.0;
        for (key, length) in lengths {
            let at = format!("{}.{key}", self.at);
            if let Some(length) = length.filter(|&length| length != count && report.is_valid(&at)) {
                let problem = report.add(at, format!("`{key}` does not have one value per request"));
                problem.given(format!("{length} values for {count} requests")).expected(format!("{count} values"));
            }
        }
        for (key, sizes) in [("request_size", &requests.request_size), ("response_size", &requests.response_size)] {
            let at = format!("{}.{key}", self.at);
            if let Some(given) = sizes.beyond(self.mss.saturating_mul(MAX_SEGMENTS)).filter(|_| report.is_valid(&at)) {
                let problem = report.add(at, format!("`{key}` exceeds the maximum number of segments"));
                problem.given(given).expected(format!("at most {MAX_SEGMENTS} segments"));
            }
        }
        let flows = u64::from(self.flows.end - self.flows.start);
        let all = if requests.connections == Connections::New { flows } else { flows * count };
        let at = format!("{}.requests", self.at);
        if all > MAX_REQUESTS && report.is_valid(&at) {
            let problem = report.add(at, "the flows of the group have too many requests");
            problem.given(format!("{all} in all")).expected(format!("at most {MAX_REQUESTS} in all"));
        }
        let at = format!("{}.parallel", self.at);
        if requests.connections == Connections::New && requests.parallel.0 > 1 && report.is_valid(&at) {
            let problem = report.add(at, "`parallel` requires a persistent connection");
            problem.given(requests.parallel.0.to_string()).expected("1, and a larger `count` of flows");
        }
        report.is_empty()
    }

    /// Reports too many segments of one flow.
    fn fits(&self, segments: u64, report: &mut Report) -> bool {
        let fits = segments <= MAX_SEGMENTS;
        if !fits && report.is_valid(self.at) {
            let problem = report.add(self.at, "the messages of a flow exceed the maximum number of segments");
            problem.given(format!("{segments} segments")).expected(format!("at most {MAX_SEGMENTS}"));
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;
    use crate::network::tests::dumbbell;

    /// A group with this application, in a run of 10 s.
    fn group(application: &str) -> String {
        format!(
            "[flows.web]\nfrom = \"left\"\nto = \"right\"\ntcp = {{preset = \"reno\", handshake = true}}\napplication = {application}\n"
        )
    }

    fn told(flows: &str) -> String {
        let buffer = if flows.contains("framing") { "900 cells" } else { "9 packets" };
        let link = format!("[topology.dumbbell]\nrate = \"10 Mbps\"\ndelay = \"10 ms\"\nqueue = {{buffer = \"{buffer}\"}}\n");
        let built = Scenario::from_toml(&format!("duration = \"10 s\"\n{link}{flows}"), "").and_then(|scenario| {
            scenario.build()?;
            Ok(())
        });
        built.unwrap_err().to_string()
    }

    #[test]
    fn a_script_repeats_until_the_flow_stops() {
        let writes = "writes = [{at = \"0 s\", size = \"2 segments\"}, {at = \"600 ms\", size = \"10 B\"}]";
        let network = dumbbell(&format!(
            "{}start = \"1 s\"\nstop = \"3500 ms\"\n",
            group(&format!("{{kind = \"script\", {writes}, repeat = \"1 s\"}}"))
        ));
        let MessagesSpec::Script(script) = &network.messages[&FlowId(0)] else { panic!("a script") };
        // At 1, 1.6, 2, 2.6 and 3 s.
        assert_eq!((script.count, script.writes.len(), network.flows[0].size), (5, 2, None));
        let Transport::Tcp(tcp, _) = &network.groups[0].transport else { panic!("TCP") };
        assert_eq!(script.writes[0].size, Bytes(2 * tcp.mss.0));
        let once = dumbbell(&group(&format!("{{kind = \"script\", {writes}}}")));
        assert_eq!(once.flows[0].size, Some(Bytes(2 * tcp.mss.0 + 10)));
    }

    #[test]
    fn requests_are_flows_in_the_reverse_direction() {
        let network = dumbbell(&group("{kind = \"requests\", requests = 3, response_size = [\"1 kB\", \"2 kB\", \"3 kB\"]}"));
        let names: Vec<&str> = network.groups.iter().map(|group| group.name.as_str()).collect();
        assert_eq!(names, ["web", "web.requests"]);
        let [web, asks] = &network.flows[..] else { panic!("two flows") };
        assert_eq!((web.forward, web.backward), (asks.backward, asks.forward));
        assert_eq!((web.size, asks.size), (Some(Bytes(6000)), Some(Bytes(900))));
        let handshakes: Vec<bool> =
            network.groups.iter().map(|group| matches!(&group.transport, Transport::Tcp(spec, _) if spec.handshake)).collect();
        assert_eq!(handshakes, [false, true]);
    }

    #[test]
    fn new_connections_are_flows_that_follow_one_another() {
        let application = "{kind = \"requests\", requests = 3, response_size = \"1 kB\", think_time = {exponential = \"1 s\"}, \
                           connections = \"new\"}";
        let network = dumbbell(&format!("{}count = 2\nstart = [\"1 s\", \"2 s\"]\n", group(application)));
        assert_eq!(network.flows.len(), 12);
        let starts: Vec<f64> = network.flows[..6].iter().map(|flow| flow.start.seconds()).collect();
        assert_eq!([starts[0], starts[3]], [1.0, 2.0]);
        assert!([1, 2, 4, 5].iter().all(|&flow| network.flows[flow].start == Time::NEVER));
        let next = |flow| match &network.messages[&FlowId(flow)] {
            MessagesSpec::Responses(ResponsesSpec { next_connection, .. }) => next_connection.map(|(flow, _)| flow),
            _ => panic!("responses"),
        };
        assert_eq!([0, 1, 2, 3].map(next), [Some(FlowId(7)), Some(FlowId(8)), None, Some(FlowId(10))]);
    }

    #[test]
    fn an_additional_request_does_not_change_earlier_ones() {
        let exchanges = |count: u32| {
            let network = dumbbell(&group(&format!(
                "{{kind = \"requests\", requests = {count}, response_size = {{exponential = \"50 kB\"}}}}"
            )));
            match &network.messages[&FlowId(0)] {
                MessagesSpec::Responses(spec) => spec.exchanges.to_vec(),
                _ => panic!("responses"),
            }
        };
        assert_eq!(exchanges(3), exchanges(5)[..3]);
    }

    #[test]
    fn conflicts_are_reported() {
        let script = |writes: &str| group(&format!("{{kind = \"script\", writes = {writes}}}"));
        let requests = |more: &str| group(&format!("{{kind = \"requests\", response_size = \"1 kB\", {more}}}"));
        for (flows, message) in [
            (script("[]"), "`writes` has no writes"),
            (script("[{at = \"1 s\", size = \"1 B\"}, {at = \"0 s\", size = \"1 B\"}]"), "`writes` is not in the order of time"),
            (script("[{at = \"1 s\", size = \"0 segments\"}]"), "`size` is not a number of segments"),
            (script("[{at = \"1 s\", size = \"0 B\"}]"), "`size` is zero"),
            (script("[{at = \"1 s\", size = \"1 B\"}], repeat = \"1 s\""), "`repeat` is not longer than the script"),
            (script("[{at = \"1 s\", size = \"1 B\"}]") + "size = \"1 kB\"\n", "`size` cannot be combined with `application`"),
            (script("\"missing.csv\""), "`missing.csv` cannot be read"),
            (requests("requests = 2, server_time = [\"1 s\"]"), "`server_time` does not have one value per request"),
            (requests("requests = 2, parallel = 2, connections = \"new\""), "`parallel` requires a persistent connection"),
            (requests("requests = 1000000") + "count = 11\n", "the flows of the group have too many requests"),
            (requests("requests = 2") + "framing = {}\n", "`framing` cannot be combined with `application`"),
            (group("{kind = \"video\", ladder = []}"), "`ladder` has no bit rates"),
            (group("{kind = \"video\", ladder = [\"2 Mbps\", \"1 Mbps\"]}"), "`ladder` is not ascending"),
            (group("{kind = \"video\", ladder = [\"1 Mbps\"], max_buffer = \"5 s\"}"), "`max_buffer` has no room for a chunk"),
            (group("{kind = \"scripts\"}"), "did you mean `script`?"),
        ] {
            assert!(told(&flows).contains(message), "{message}: {}", told(&flows));
        }
    }
}
