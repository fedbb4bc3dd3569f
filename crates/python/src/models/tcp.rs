//! What one TCP flow can carry.

use super::columns::{Column, each_row, whole};
use crate::errors::parameter_error;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tailback_models::ParameterError;
use tailback_models::parameter::{Count, Loss, NonNegative, Positive};
use tailback_models::tcp;

/// bit/s, or a share.
type Numbers = [Py<PyBytes>; 1];

#[pyfunction]
pub fn mathis_rate(
    py: Python<'_>,
    mss_bytes: Column,
    rtt_s: Column,
    loss: Column,
    segments_per_ack: Column,
) -> PyResult<Numbers> {
    each_row(py, [mss_bytes, rtt_s, loss, segments_per_ack], |[mss_bytes, rtt_s, loss, segments_per_ack]| {
        Ok([tcp::mathis_rate(&tcp::Mathis {
            mss_bytes: Positive::new("mss_bytes", mss_bytes)?,
            rtt_s: Positive::new("rtt_s", rtt_s)?,
            loss: Loss::new(loss)?,
            segments_per_ack: count("segments_per_ack", segments_per_ack)?,
        })])
    })
}

#[pyfunction]
pub fn padhye_rate(
    py: Python<'_>,
    mss_bytes: Column,
    rtt_s: Column,
    loss: Column,
    rto_s: Column,
    receiver_window: Column,
    segments_per_ack: Column,
) -> PyResult<Numbers> {
    let columns = [mss_bytes, rtt_s, loss, rto_s, receiver_window, segments_per_ack];
    each_row(py, columns, |row| Ok([tcp::padhye_rate(&padhye(row)?)]))
}

#[pyfunction]
pub fn padhye_goodput(
    py: Python<'_>,
    mss_bytes: Column,
    rtt_s: Column,
    loss: Column,
    rto_s: Column,
    receiver_window: Column,
    segments_per_ack: Column,
) -> PyResult<Numbers> {
    let columns = [mss_bytes, rtt_s, loss, rto_s, receiver_window, segments_per_ack];
    each_row(py, columns, |row| Ok([tcp::padhye_goodput(&padhye(row)?)]))
}

#[pyfunction]
pub fn single_flow_utilisation(py: Python<'_>, buffer_over_bdp: Column) -> PyResult<Numbers> {
    each_row(py, [buffer_over_bdp], |[buffer_over_bdp]| {
        Ok([tcp::single_flow_utilisation(NonNegative::new("buffer_over_bdp", buffer_over_bdp)?)])
    })
}

#[pyfunction]
pub fn single_flow_mean_queue(py: Python<'_>, buffer_over_bdp: Column) -> PyResult<Numbers> {
    each_row(py, [buffer_over_bdp], |[buffer_over_bdp]| {
        Ok([tcp::single_flow_mean_queue(NonNegative::new("buffer_over_bdp", buffer_over_bdp)?)])
    })
}

/// Round trips and completion time.
#[pyfunction]
pub fn slow_start(
    py: Python<'_>,
    segments: Column,
    initial_window: Column,
    rtt_s: Column,
    segment_s: Column,
) -> PyResult<[Py<PyBytes>; 2]> {
    each_row(py, [segments, initial_window, rtt_s, segment_s], |[segments, initial_window, rtt_s, segment_s]| {
        let transfer = tcp::slow_start(&tcp::Transfer {
            segments: count("segments", segments)?,
            initial_window: count("initial_window", initial_window)?,
            rtt_s: Positive::new("rtt_s", rtt_s)?,
            segment_s: Positive::new("segment_s", segment_s)?,
        });
        Ok([f64::from(transfer.round_trips), transfer.completion_s])
    })
}

#[pyfunction]
pub fn window_limited_rate(py: Python<'_>, window_bytes: Column, rtt_s: Column, capacity_bps: Column) -> PyResult<Numbers> {
    each_row(py, [window_bytes, rtt_s, capacity_bps], |[window_bytes, rtt_s, capacity_bps]| {
        Ok([tcp::window_limited_rate(&tcp::WindowLimited {
            window_bytes: Positive::new("window_bytes", window_bytes)?,
            rtt_s: Positive::new("rtt_s", rtt_s)?,
            capacity_bps: Positive::new("capacity_bps", capacity_bps)?,
        })])
    })
}

/// Whether it recovers, losses retransmitted, new segments in each recovery, and the number and formula of the condition that failed.
type Repair = (bool, u32, Vec<u32>, Option<(u32, &'static str)>);

#[pyfunction]
pub fn fast_retransmit(py: Python<'_>, window: u32, lost: Vec<u32>) -> PyResult<Repair> {
    let result = tcp::fast_retransmit(window, &lost).map_err(|error| parameter_error(py, &error, ""))?;
    let failed = result.failed.map(|condition| (condition.number(), condition.formula()));
    Ok((result.recovers, result.retransmitted, result.new_segments, failed))
}

fn padhye(row: [f64; 6]) -> Result<tcp::Padhye, ParameterError> {
    let [mss_bytes, rtt_s, loss, rto_s, receiver_window, segments_per_ack] = row;
    Ok(tcp::Padhye {
        mss_bytes: Positive::new("mss_bytes", mss_bytes)?,
        rtt_s: Positive::new("rtt_s", rtt_s)?,
        loss: Loss::new(loss)?,
        rto_s: Positive::new("rto_s", rto_s)?,
        receiver_window: count("receiver_window", receiver_window)?,
        segments_per_ack: count("segments_per_ack", segments_per_ack)?,
    })
}

fn count(name: &'static str, number: f64) -> Result<Count, ParameterError> {
    Count::new(name, whole(name, number)?)
}
