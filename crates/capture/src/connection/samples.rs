//! Time series, stored only on request.

use crate::time::Timestamp;
use std::time::Duration;

/// Whether each round trip and each change of the amount in flight is stored, which takes several tens of bytes per packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Samples {
    #[default]
    Summed,
    Stored,
}

/// A direction of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DirectionId {
    pub(crate) connection: u32,
    pub(crate) direction: u32,
}

/// Data sent and not acknowledged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlightSize {
    pub(crate) bytes: u64,
    pub(crate) segments: u64,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct SampleRows {
    pub(crate) round_trips: Vec<(Timestamp, DirectionId, Duration)>,
    pub(crate) in_flight: Vec<(Timestamp, DirectionId, FlightSize)>,
}

/// Destination of the samples of a direction, if they are stored.
pub(crate) struct SampleSink<'a> {
    pub(crate) rows: Option<&'a mut SampleRows>,
    pub(crate) of: DirectionId,
}

impl SampleSink<'_> {
    #[inline]
    pub(crate) fn round_trip(&mut self, at: Timestamp, round_trip: Duration) {
        if let Some(rows) = &mut self.rows {
            rows.round_trips.push((at, self.of, round_trip));
        }
    }

    #[inline]
    pub(crate) fn in_flight(&mut self, at: Timestamp, now: FlightSize) {
        if let Some(rows) = &mut self.rows {
            rows.in_flight.push((at, self.of, now));
        }
    }
}
