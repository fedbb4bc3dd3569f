//! A sender without a network, for `tailback.packetdrill`. Times are nanoseconds.

use crate::description::{network, parse};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tailback_core::congestion::ControllerSpec;
use tailback_core::network::Transport;
use tailback_core::primitives::segment_number::{SackBlock, SegmentNumber};
use tailback_core::primitives::units::{Segments, Time, TimeDelta};
use tailback_core::tcp::{AckFields, CongestionState, LoneSender as Core};

#[pyclass(module = "tailback._core")]
pub struct LoneSender {
    sender: Core,
}

/// Time, segment, whether it is new, and whether it reports a reduction of the window.
type Sent = (u64, u32, bool, bool);

#[pymethods]
impl LoneSender {
    /// The sender of the first group of a scenario.
    #[new]
    #[pyo3(signature = (text, file, format))]
    fn new(py: Python<'_>, text: &str, file: &str, format: &str) -> PyResult<Self> {
        let scenario = parse(py, text, file, format)?;
        let network = network(py, &scenario, file)?;
        let Some(Transport::Tcp(spec, law)) = network.groups.first().map(|group| &group.transport) else {
            return Err(PyValueError::new_err("the first flow has no TCP"));
        };
        let requires = law.abilities().subscriptions;
        if matches!(law, ControllerSpec::User(_)) || requires.price || requires.marks || requires.one_way_delay {
            return Err(PyValueError::new_err(
                "the controller is user code or requires feedback that ACKs of a script do not have",
            ));
        }
        Ok(Self { sender: Core::new(spec.clone(), law, network.seed) })
    }

    fn advance(&mut self, until: u64) {
        self.sender.advance(time(until));
    }

    fn write(&mut self, segments: u32) {
        self.sender.write(Segments(segments));
    }

    /// Returns false if it acknowledges what was not sent, and has no effect.
    #[pyo3(signature = (ack, *, blocks, echo, echoes_mark, window))]
    fn acknowledge(&mut self, ack: u32, blocks: Vec<(u32, u32)>, echo: u64, echoes_mark: bool, window: u32) -> bool {
        let (ack, echo, window) = (SegmentNumber(ack), time(echo), Segments(window));
        let blocks: Vec<SackBlock> = blocks.into_iter().map(|(first, end)| (SegmentNumber(first), SegmentNumber(end))).collect();
        self.sender.acknowledge(&AckFields { ack, blocks: &blocks, echo, echoes_mark, window })
    }

    fn take_departures(&mut self) -> Vec<Sent> {
        let departures = self.sender.take_departures().into_iter();
        departures.map(|sent| (sent.time.0 / 1000, sent.segment.0, sent.is_new, sent.reports_reduction)).collect()
    }

    /// The state by the names and in the units of Linux's `tcp_info`. A value that does not exist yet is absent.
    fn tcp_info(&mut self) -> Vec<(&'static str, u64)> {
        let state = self.sender.snapshot();
        let microseconds = |delay: TimeDelta| delay.0 / 1_000_000;
        let mut info = vec![
            ("tcpi_snd_cwnd", state.cwnd as u64),
            (
                "tcpi_snd_ssthresh",
                if state.ssthresh < INFINITE_SSTHRESH as f64 { state.ssthresh as u64 } else { INFINITE_SSTHRESH },
            ),
            ("tcpi_ca_state", number(state.state)),
            ("tcpi_unacked", u64::from(state.unacked.0)),
            ("tcpi_sacked", u64::from(state.sacked.0)),
            ("tcpi_rto", microseconds(state.rto)),
            ("tcpi_total_retrans", u64::from(state.retransmitted)),
        ];
        info.extend(state.srtt.map(|srtt| ("tcpi_rtt", microseconds(srtt))));
        info
    }
}

/// Linux's slow-start threshold before the first loss.
const INFINITE_SSTHRESH: u64 = 0x7fff_ffff;

fn time(nanoseconds: u64) -> Time {
    Time(nanoseconds.saturating_mul(1000))
}

/// `TCP_CA_Open` and so on.
fn number(state: CongestionState) -> u64 {
    match state {
        CongestionState::Open => 0,
        CongestionState::Disorder => 1,
        CongestionState::Cwr => 2,
        CongestionState::Recovery => 3,
        CongestionState::Loss => 4,
    }
}
