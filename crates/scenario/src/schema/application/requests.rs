//! `application = {kind = "requests", ...}`: requests of the receiver, and responses as the data of the flow.

use crate::distribution::Distribution;
use crate::quantity::{Duration, Size};
use crate::record::{record, words};
use crate::values::Integer;

words! {
    /// Connections of a client.
    pub enum Connections ("use of connections") {
        /// One connection for all requests.
        Persistent = "persistent",
        /// A new connection for each request, opened after the response before it and the think time.
        New = "new",
    }
}

record! {
    /// Requests of the receiver (`to`, the client) and responses of the sender (`from`, the server).
    ///
    /// Requests are the flows of an additional group, `NAME.requests`, which uses TCP with the same settings in the reverse direction.
    pub struct Requests {
        /// Number of requests of each flow.
        requests: Integer<1, 1_000_000>,
        /// Payload of each request.
        request_size: Distribution<Size> = Distribution::Fixed(Size::new(300)),
        /// Payload of each response.
        response_size: Distribution<Size>; "100 kB",
        /// Time from the delivery of a response to the next request. The first requests are sent at the start of the flow.
        think_time: Distribution<Duration> = Distribution::Fixed(Duration::new(0)),
        /// Time from the delivery of a request to its response. Responses are sent in the order of their requests.
        server_time: Distribution<Duration> = Distribution::Fixed(Duration::new(0)),
        /// Maximum number of requests without a response, on a persistent connection.
        parallel: Integer<1, 1000> = Integer(1),
        /// Whether all requests use one connection.
        connections: Connections = Connections::Persistent,
    }
}

impl Requests {
    pub(super) const SUMMARY: &'static str = "Requests of the receiver, and responses as the data of the flow.";
    pub(super) const SOURCE: &'static str = "common practice";
}
