//! What one TCP flow can carry.

use super::checked;
use pyo3::prelude::*;
use tailback_models::ParameterError;
use tailback_models::parameter::{Count, Loss, NonNegative, Positive};
use tailback_models::tcp;

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
