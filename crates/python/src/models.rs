//! The closed forms, one number at a time; `tailback.models` documents them and maps them over arrays.

use crate::errors::parameter_error;
use pyo3::prelude::*;
use tailback_models::ParameterError;
use tailback_models::parameter::{Count, Load, Loss, NonNegative, Places, Positive, Servers, StableLoad};
use tailback_models::queues::{self, FiniteQueue};
use tailback_models::tcp;

/// Loss, mean number, mean wait.
type Queue = (f64, f64, f64);

#[pyfunction]
pub fn erlang_b(py: Python<'_>, load: f64, servers: u64) -> PyResult<f64> {
    checked(py, || Ok(queues::erlang_b(Load::new(load)?, Servers::new(servers)?)))
}

#[pyfunction]
pub fn md1_mean_wait(py: Python<'_>, load: f64) -> PyResult<f64> {
    checked(py, || Ok(queues::md1_mean_wait(StableLoad::new(load)?)))
}

#[pyfunction]
pub fn md1k(py: Python<'_>, load: f64, places: u64) -> PyResult<Queue> {
    checked(py, || queues::md1k(Load::new(load)?, Places::new(places)?).map(numbers))
}

#[pyfunction]
pub fn mm1k(py: Python<'_>, load: f64, places: u64) -> PyResult<Queue> {
    checked(py, || Ok(numbers(queues::mm1k(Load::new(load)?, Places::new(places)?))))
}

#[pyfunction]
pub fn mmck(py: Python<'_>, load: f64, servers: u64, places: u64) -> PyResult<Queue> {
    checked(py, || Ok(numbers(queues::mmck(Load::new(load)?, Servers::new(servers)?, Places::new(places)?))))
}

#[pyfunction]
pub fn mathis_rate(py: Python<'_>, mss_bytes: f64, rtt_s: f64, loss: f64, segments_per_ack: u64) -> PyResult<f64> {
    checked(py, || {
        Ok(tcp::mathis_rate(&tcp::Mathis {
            mss_bytes: Positive::new("mss_bytes", mss_bytes)?,
            rtt_s: Positive::new("rtt_s", rtt_s)?,
            loss: Loss::new(loss)?,
            segments_per_ack: Count::new("segments_per_ack", segments_per_ack)?,
        }))
    })
}

#[pyfunction]
pub fn padhye_rate(
    py: Python<'_>,
    mss_bytes: f64,
    rtt_s: f64,
    loss: f64,
    rto_s: f64,
    receiver_window: u64,
    segments_per_ack: u64,
) -> PyResult<f64> {
    checked(py, || Ok(tcp::padhye_rate(&padhye(mss_bytes, rtt_s, loss, rto_s, receiver_window, segments_per_ack)?)))
}

#[pyfunction]
pub fn padhye_goodput(
    py: Python<'_>,
    mss_bytes: f64,
    rtt_s: f64,
    loss: f64,
    rto_s: f64,
    receiver_window: u64,
    segments_per_ack: u64,
) -> PyResult<f64> {
    checked(py, || Ok(tcp::padhye_goodput(&padhye(mss_bytes, rtt_s, loss, rto_s, receiver_window, segments_per_ack)?)))
}

#[pyfunction]
pub fn single_flow_utilisation(py: Python<'_>, buffer_over_bdp: f64) -> PyResult<f64> {
    checked(py, || Ok(tcp::single_flow_utilisation(NonNegative::new("buffer_over_bdp", buffer_over_bdp)?)))
}

/// Round trips and completion time.
#[pyfunction]
pub fn slow_start(py: Python<'_>, segments: u64, initial_window: u64, rtt_s: f64, segment_s: f64) -> PyResult<(u32, f64)> {
    checked(py, || {
        let transfer = tcp::slow_start(&tcp::Transfer {
            segments: Count::new("segments", segments)?,
            initial_window: Count::new("initial_window", initial_window)?,
            rtt_s: Positive::new("rtt_s", rtt_s)?,
            segment_s: Positive::new("segment_s", segment_s)?,
        });
        Ok((transfer.round_trips, transfer.completion_s))
    })
}

#[pyfunction]
pub fn window_limited_rate(py: Python<'_>, window_bytes: f64, rtt_s: f64, capacity_bps: f64) -> PyResult<f64> {
    checked(py, || {
        Ok(tcp::window_limited_rate(&tcp::WindowLimited {
            window_bytes: Positive::new("window_bytes", window_bytes)?,
            rtt_s: Positive::new("rtt_s", rtt_s)?,
            capacity_bps: Positive::new("capacity_bps", capacity_bps)?,
        }))
    })
}

/// Whether it recovers, losses retransmitted, new segments in each recovery, and the number and formula of the condition that failed.
type Repair = (bool, u32, Vec<u32>, Option<(u32, &'static str)>);

#[pyfunction]
pub fn fast_retransmit(py: Python<'_>, window: u32, lost: Vec<u32>) -> PyResult<Repair> {
    checked(py, || {
        let result = tcp::fast_retransmit(window, &lost)?;
        let failed = result.failed.map(|condition| (condition.number(), condition.formula()));
        Ok((result.recovers, result.retransmitted, result.new_segments, failed))
    })
}

fn checked<T>(py: Python<'_>, model: impl FnOnce() -> Result<T, ParameterError>) -> PyResult<T> {
    model().map_err(|error| parameter_error(py, &error))
}

fn numbers(queue: FiniteQueue) -> Queue {
    (queue.loss, queue.mean_number, queue.mean_wait)
}

fn padhye(
    mss_bytes: f64,
    rtt_s: f64,
    loss: f64,
    rto_s: f64,
    receiver_window: u64,
    segments_per_ack: u64,
) -> Result<tcp::Padhye, ParameterError> {
    Ok(tcp::Padhye {
        mss_bytes: Positive::new("mss_bytes", mss_bytes)?,
        rtt_s: Positive::new("rtt_s", rtt_s)?,
        loss: Loss::new(loss)?,
        rto_s: Positive::new("rto_s", rto_s)?,
        receiver_window: Count::new("receiver_window", receiver_window)?,
        segments_per_ack: Count::new("segments_per_ack", segments_per_ack)?,
    })
}
