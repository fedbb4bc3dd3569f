//! Adapter for a transport in Python.

use super::views::HostEnd;
use super::{made, shown};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyTuple};
use std::sync::{Arc, Mutex, PoisonError};
use tailback_core::network::CodeKind;
use tailback_core::primitives::units::{Bytes, Time, TimeDelta};
use tailback_core::user_code::UserCode;
use tailback_host::library::EndSettings;
use tailback_host::{
    ConnectionEnd, ConnectionState, Datagram, EcnField, Host, Outbox, RttSamples, TransportReport, report_fault,
};

/// The exception with which a host has ended the run.
pub type Raised = Arc<Mutex<Option<PyErr>>>;

struct PythonHost {
    host: Py<PyAny>,
    end: EndSettings,
    deadline: Option<Time>,
    raised: Raised,
}

/// A host of the registered class that `code` names.
///
/// # Errors
/// The exception of its constructor.
pub fn python_host(py: Python<'_>, code: &UserCode, end: EndSettings, flow: u64, raised: Raised) -> PyResult<Box<dyn Host>> {
    let view = HostEnd {
        is_sender: end.is_sender,
        size_bytes: end.size.map(|size| size.0),
        start_s: end.start.seconds(),
        stop_s: (end.stop != Time::NEVER).then(|| end.stop.seconds()),
        max_payload_bytes: end.mtu.0 - HEADERS,
        flow,
        seed: end.seed,
    };
    let host = made(py, CodeKind::Host, code, Some(Bound::new(py, view)?.into_any()))?.unbind();
    Ok(Box::new(PythonHost { host, end, deadline: None, raised }))
}

/// IPv4 (RFC 791) and UDP (RFC 768).
const HEADERS: u64 = 28;

impl PythonHost {
    /// Calls the host; an exception ends the run.
    fn attached<T>(&self, call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> T {
        match Python::attach(|py| call(self.host.bind(py))) {
            Ok(value) => value,
            Err(error) => {
                let message = error.to_string();
                self.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                report_fault(message)
            }
        }
    }
}

impl Host for PythonHost {
    fn receive(&mut self, now: Time, datagram: &Datagram<'_>) {
        // A NAT may have changed the address of the other end.
        self.end.remote = datagram.source;
        self.attached(|host| {
            let data = PyBytes::new(host.py(), datagram.payload);
            host.call_method1(intern!(host.py(), "receive"), (now.seconds(), data, datagram.ecn as u8)).map(|_| ())
        });
    }

    fn poll(&mut self, now: Time, outbox: &mut Outbox) {
        let (source, destination) = (self.end.local, self.end.remote);
        self.deadline = self.attached(|host| {
            let py = host.py();
            let sent = host.call_method1(intern!(py, "poll"), (now.seconds(),))?;
            if !sent.is_none() {
                for packet in sent.try_iter()? {
                    let (payload, ecn) = packet_of(&packet?)?;
                    outbox.send(&Datagram { source, destination, ecn, payload: &payload });
                }
            }
            deadline(&host.call_method0(intern!(py, "deadline_s"))?, now)
        });
    }

    fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    fn report(&mut self) -> TransportReport {
        self.attached(|host| report(&host.call_method0(intern!(host.py(), "report"))?))
    }
}

/// The words for the states of a connection, in their order.
const STATES: [&str; 5] = ["open", "disorder", "cwr", "recovery", "loss"];

/// A `HostReport`, or None.
fn report(given: &Bound<'_, PyAny>) -> PyResult<TransportReport> {
    if given.is_none() {
        return Ok(TransportReport::default());
    }
    let value = |name: &str| {
        given
            .getattr(name)
            .map(|value| Some(value).filter(|value| !value.is_none()))
            .map_err(|_| PyTypeError::new_err(format!("`report` gave {}; expected None, or a HostReport", shown(given))))
    };
    let wrong = |name: &str, value: &Bound<'_, PyAny>, expected: &str| {
        PyValueError::new_err(format!("`{name}` of the report is {}; expected {expected}", shown(value)))
    };
    let count = |name: &str| {
        let Some(value) = value(name)? else { return Ok(None) };
        let count = value.extract::<u64>().ok().filter(|&count| i64::try_from(count).is_ok());
        count.map(Some).ok_or_else(|| wrong(name, &value, "a whole number from 0 to 2**63 - 1, or None"))
    };
    let duration = |name: &str| {
        let Some(value) = value(name)? else { return Ok(None) };
        let seconds = value.extract::<f64>().ok().filter(|seconds| (0.0..=Time::NEVER.seconds()).contains(seconds));
        seconds
            .map(|seconds| Some(TimeDelta::from_seconds(seconds)))
            .ok_or_else(|| wrong(name, &value, "seconds from 0 to 1.8e7, or None"))
    };
    let (samples, sum) = (count("rtt_samples")?, duration("rtt_sum_s")?);
    let state = match value("state")? {
        Some(word) => {
            let place = word.extract::<String>().ok().and_then(|word| STATES.iter().position(|known| *known == word));
            let state = place.and_then(|place| ConnectionState::ALL.get(place));
            Some(*state.ok_or_else(|| wrong("state", &word, &format!("one of {}, or None", STATES.join(", "))))?)
        }
        None => None,
    };
    let ended = match duration("ended_at_s")? {
        Some(at) => {
            let given = given.getattr("end_reason")?;
            let reason = given
                .extract()
                .map_err(|_| PyTypeError::new_err(format!("`end_reason` of the report is {}; expected a text", shown(&given))))?;
            Some(ConnectionEnd { at: Time::ZERO + at, reason })
        }
        None => None,
    };
    Ok(TransportReport {
        delivered: count("delivered_bytes")?.map(Bytes),
        cwnd: count("cwnd_bytes")?.map(Bytes),
        ssthresh: count("ssthresh_bytes")?.map(Bytes),
        in_flight: count("in_flight_bytes")?.map(Bytes),
        state,
        smoothed_rtt: duration("smoothed_rtt_s")?,
        min_rtt: duration("min_rtt_s")?,
        rtt_samples: samples.zip(sum).map(|(count, sum)| RttSamples { count, sum }),
        rto: duration("rto_s")?,
        timeouts: count("timeouts")?,
        retransmitted_packets: count("retransmitted_packets")?,
        lost_packets: count("lost_packets")?,
        ended,
    })
}

/// A payload, or a payload and its ECN field.
fn packet_of(packet: &Bound<'_, PyAny>) -> PyResult<(PyBackedBytes, EcnField)> {
    let wrong = || PyTypeError::new_err(format!("`poll` gave {}; expected bytes, or (bytes, ECN field)", shown(packet)));
    let Ok(pair) = packet.cast::<PyTuple>() else { return Ok((packet.extract().map_err(|_| wrong())?, EcnField::NotEct)) };
    let (payload, field): (PyBackedBytes, u8) = pair.extract().map_err(|_| wrong())?;
    if field > EcnField::Ce as u8 {
        return Err(PyValueError::new_err(format!("the ECN field is {field}; expected 0 to 3, such as `Ecn.ECT0`")));
    }
    Ok((payload, EcnField::of(field)))
}

/// The time of the next poll. Seconds at that time are not before the given ones, although both are rounded.
fn deadline(given: &Bound<'_, PyAny>, now: Time) -> PyResult<Option<Time>> {
    if given.is_none() {
        return Ok(None);
    }
    let expected = "None, or a time in seconds";
    let seconds: f64 =
        given.extract().map_err(|_| PyTypeError::new_err(format!("`deadline_s` gave {}; expected {expected}", shown(given))))?;
    if seconds.is_nan() {
        return Err(PyValueError::new_err(format!("`deadline_s` gave {seconds}; expected {expected}")));
    }
    if seconds >= Time::NEVER.seconds() {
        return Ok(None);
    }
    let mut time = Time::ZERO + TimeDelta::from_seconds(seconds.max(0.0));
    while time.seconds() < seconds {
        time += TimeDelta(1);
    }
    Ok(Some(if seconds >= now.seconds() { time.max(now) } else { time.min(Time(now.0.saturating_sub(1))) }))
}
