//! `[flows.NAME.abr]`: the available bit rate service of flows that travel in cells.

use super::Buffer;
use crate::quantity::{Duration, Probability, Rate};
use crate::record::record;
use crate::values::Whole;

record! {
    /// The available bit rate service (ABR, ATM Forum TM 4.0): an edge at the sender lets cells into the network at the rate that RM cells
    /// bring back. Rates are of whole cells, 53 bytes each.
    pub struct Abr {
        /// Waiting places at the edge of each flow: packets, bytes or `unlimited`. A packet holds its place until its last cell has left.
        buffer: Buffer; "100 packets",
        /// Peak cell rate (PCR). If not given, that of `sender_access`.
        pcr: Option<Rate>,
        /// Minimum cell rate (MCR). If not given, the rate falls to 10 cells per second at least.
        mcr: Option<Rate>,
        /// Initial cell rate (ICR). If not given, PCR.
        icr: Option<Rate>,
        /// Each so many cells one is an RM cell (Nrm).
        nrm: Whole<2, 256> = Whole(32),
        /// From one RM cell to the next at most, if two cells have been sent (Trm).
        trm: Duration = Duration::new(100_000_000_000),
        /// Rate increase factor (RIF): how much of PCR an RM cell without CI and NI adds.
        rif: Probability = Probability(0.0625),
        /// Rate decrease factor (RDF): how much of the rate an RM cell with CI takes off.
        rdf: Probability = Probability(0.0625),
        /// Cutoff decrease factor (CDF): how much of the rate each RM cell takes off while too many have not come back.
        cdf: Probability = Probability(0.0625),
        /// Transient buffer exposure (TBE): cells that may be sent before the first RM cell comes back, until CDF counts.
        tbe: Whole<1, 16_777_215> = Whole(16_777_215),
        /// How long a rate above ICR may go unused (ADTF).
        adtf: Duration = Duration::new(500_000_000_000),
        /// Acknowledgements wait at the edge while it has so many packets or more. If not given, none waits.
        ack_threshold: Option<Whole<1, 1_000_000>>,
    }
}
