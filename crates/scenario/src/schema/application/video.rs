//! `application = {kind = "video", ...}`: video in chunks, as the data of the flow.

use crate::quantity::{Duration, Rate, Size};
use crate::record::record;
use crate::values::{Integer, Word};
use tailback_core::traffic::Adaptation;

record! {
    /// Video in chunks (DASH): the receiver (`to`, the client) requests each chunk from the sender (`from`, the server) in the bit rate that its
    /// adaptation selects, and plays it. The table `flows` has stalls and changes of the bit rate.
    ///
    /// Requests are the flows of an additional group, `NAME.requests`, which uses TCP with the same settings in the reverse direction.
    pub struct Video {
        /// Bit rates of the video, ascending.
        ladder: Vec<Rate>; serde_json::json!(["300 kbps", "750 kbps", "1.5 Mbps", "3 Mbps"]),
        /// Playing time of a chunk.
        chunk: Duration = Duration::new(4_000_000_000_000),
        /// Number of chunks. Default: as many as can be requested before the end of the run.
        chunks: Option<Integer<1, 1_000_000>>,
        /// Selection of the bit rate.
        adaptation: Word<Adaptation> = Word(Adaptation::Throughput),
        /// Maximum playing time in the buffer. A chunk is requested only if there is room for it.
        max_buffer: Duration = Duration::new(30_000_000_000_000),
        /// Playing time in the buffer that starts the playback, at first and after a stall. Default: one chunk.
        start_buffer: Option<Duration>; "8 s",
        /// Payload of each request.
        request_size: Size = Size::new(300),
    }
}

impl Video {
    pub(super) const SUMMARY: &'static str = "Video in chunks of an adaptive bit rate (DASH), requested by the receiver.";
    pub(super) const SOURCE: &'static str = "ISO/IEC 23009-1; the adaptations are published";
}
