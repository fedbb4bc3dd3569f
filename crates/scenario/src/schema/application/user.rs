//! `application = {kind = "user:NAME", ...}`: a client in Python.

use crate::record::record;
use crate::user_code::{Parameters, UserName};
use crate::values::Integer;

record! {
    /// Client in Python, at the receiver (`to`). It requests responses of any size from the sender (`from`), at times of its choice.
    ///
    /// Requests are the flows of an additional group, `NAME.requests`, which uses TCP with the same settings in the reverse direction.
    pub struct UserClient {
        /// `user:NAME`, where NAME is the registered name of the Python class.
        kind: UserName,
        /// Keyword arguments of the Python class.
        parameters: Parameters = Parameters::default(),
        /// Maximum number of requests of each flow.
        max_requests: Integer<1, 1_000_000> = Integer(10_000),
    }
}
