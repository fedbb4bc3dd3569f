//! Arguments of user code: the core's terms, times in seconds, rates in bit/s.

use pyo3::prelude::*;
use tailback_core::primitives::signal::Signal;
use tailback_core::{congestion, queue};

/// A record that Python can read, and construct for tests.
macro_rules! view {
    ($(#[$about:meta])* $name:ident { $($field:ident: $type:ty $(= $default:expr)?),+ $(,)? }) => {
        $(#[$about])*
        #[pyclass(frozen, get_all, module = "tailback.user_code")]
        pub struct $name {
            $(pub $field: $type),+
        }

        #[pymethods]
        impl $name {
            #[new]
            #[pyo3(signature = (*, $($field $(= $default)?),+))]
            #[allow(clippy::too_many_arguments, reason = "keyword arguments")]
            fn new($($field: $type),+) -> Self {
                Self { $($field),+ }
            }

            fn __repr__(&self) -> String {
                let fields = [$(format!(concat!(stringify!($field), "={:?}"), self.$field)),+];
                format!("{}({})", stringify!($name), fields.join(", "))
            }
        }
    };
}

view!(
    /// Arguments of a controller's constructor: window and threshold in segments, a full packet in bytes, and whether bytes are
    /// counted.
    Start { window: f64, ssthresh: f64, packet_bytes: u64, counts_bytes: bool = true }
);
view!(
    /// Arguments of a host's constructor; `Host` describes each field.
    HostEnd {
        is_sender: bool,
        size_bytes: Option<u64>,
        start_s: f64,
        stop_s: Option<f64>,
        max_payload_bytes: u64,
        flow: u64,
        seed: u64,
    }
);
view!(
    /// An acknowledgement of new data; `Controller.on_ack` describes each field.
    Ack {
        now_s: f64,
        acked: u32,
        counted: u32,
        rtt_s: Option<f64>,
        in_flight: u32,
        window_validated: bool,
        marks: u32 = 0,
        price: Option<f64> = None,
        delivered_rate: Option<f64> = None,
        app_limited: bool = false,
    }
);
view!(
    /// A round-trip sample, and the smoothed round trip, in seconds (`Controller.on_round_trip`).
    RoundTrip { sample_s: f64, smoothed_s: Option<f64> }
);
view!(
    /// Detected congestion, or a timeout; `Controller.on_congestion` describes each field.
    Congestion { now_s: f64, in_flight: u32, repeated: bool, min_window: u32 = 2 }
);
view!(
    /// An arriving packet or cell: its bytes on the wire, and whether it is the last of its frame (`Policy.on_arrival`).
    Unit { bytes: u64, is_last: bool }
);
view!(
    /// Occupancy of the buffer at an arrival; `Policy.on_arrival` describes each field.
    Occupancy {
        units: u64,
        bytes: u64,
        flow_units: u64,
        flows: u32,
        backlogged: u32,
        has_room: bool,
        idle_s: f64,
        rate_bps: u64,
    }
);
view!(
    /// A unit about to be sent: its waiting time, and the bytes queued behind it (`Policy.on_departure`).
    Departure { now_s: f64, waited_s: f64, bytes_behind: u64 }
);

/// The congestion signals of a unit, which a policy may modify.
#[pyclass(module = "tailback.user_code", name = "Signal")]
pub struct UnitSignal {
    #[pyo3(get)]
    pub ecn_capable: bool,
    #[pyo3(get, set)]
    pub is_marked: bool,
    #[pyo3(get, set)]
    pub price: Option<f64>,
}

#[pymethods]
impl UnitSignal {
    #[new]
    #[pyo3(signature = (*, ecn_capable, is_marked=false, price=None))]
    fn new(ecn_capable: bool, is_marked: bool, price: Option<f64>) -> Self {
        Self { ecn_capable, is_marked, price }
    }
}

impl From<&congestion::Ack> for Ack {
    fn from(ack: &congestion::Ack) -> Ack {
        let congestion::Ack { now, acked, counted, rtt, in_flight, window_validated, signal } = *ack;
        let Signal { marks, price, delivered_rate, .. } = signal;
        Ack {
            now_s: now.seconds(),
            acked: acked.0,
            counted: counted.0,
            rtt_s: rtt.map(|rtt| rtt.seconds()),
            in_flight: in_flight.0,
            window_validated,
            marks,
            price,
            delivered_rate: delivered_rate.map(|sample| sample.rate),
            app_limited: delivered_rate.is_some_and(|sample| sample.app_limited),
        }
    }
}

impl From<&congestion::RoundTrip> for RoundTrip {
    fn from(measured: &congestion::RoundTrip) -> RoundTrip {
        let congestion::RoundTrip { sample, smoothed } = *measured;
        RoundTrip { sample_s: sample.seconds(), smoothed_s: smoothed.map(|smoothed| smoothed.seconds()) }
    }
}

impl From<&congestion::Congestion> for Congestion {
    fn from(seen: &congestion::Congestion) -> Congestion {
        let congestion::Congestion { now, in_flight, repeated, min_window, .. } = *seen;
        Congestion { now_s: now.seconds(), in_flight: in_flight.0, repeated, min_window: min_window.0 }
    }
}

impl From<&queue::Unit> for Unit {
    fn from(unit: &queue::Unit) -> Unit {
        let queue::Unit { bytes, is_last } = *unit;
        Unit { bytes: bytes.0, is_last }
    }
}

impl From<&queue::Occupancy> for Occupancy {
    fn from(buffer: &queue::Occupancy) -> Occupancy {
        let queue::Occupancy { units, bytes, of_flow, flows, backlogged, has_room, idle, rate } = *buffer;
        let (units, bytes, of_flow) = (units.0, bytes.0, of_flow.0);
        Occupancy { units, bytes, flow_units: of_flow, flows, backlogged, has_room, idle_s: idle.seconds(), rate_bps: rate.0 }
    }
}

impl From<&queue::Departure> for Departure {
    fn from(departure: &queue::Departure) -> Departure {
        let queue::Departure { now, sojourn_time, bytes_behind, .. } = *departure;
        Departure { now_s: now.seconds(), waited_s: sojourn_time.seconds(), bytes_behind: bytes_behind.0 }
    }
}
