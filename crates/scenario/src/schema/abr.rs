//! `[flows.NAME.abr]`: the available bit rate service of flows with cells.

use crate::buffer::Buffer;
use crate::probability::Probability;
use crate::quantity::{Duration, Rate};
use crate::record::record;
use crate::values::Integer;

record! {
    /// Available bit rate service (ABR, ATM Forum TM 4.0): an edge device at the sender sends cells at the rate that RM cells return.
    /// Rates count whole cells of 53 bytes.
    pub struct Abr {
        /// Buffer of the edge device per flow: packets, bytes or `unlimited`. A packet is buffered until its last cell is sent.
        buffer: Buffer; "100 packets",
        /// Peak cell rate (PCR). Default: the rate of `sender_access`.
        pcr: Option<Rate>,
        /// Minimum cell rate (MCR). Default: 10 cells per second.
        mcr: Option<Rate>,
        /// Initial cell rate (ICR). Default: PCR.
        icr: Option<Rate>,
        /// Number of cells per RM cell (Nrm): one RM cell is sent every Nrm cells.
        nrm: Integer<2, 256> = Integer(32),
        /// Maximum time between two RM cells if at least two cells were sent (Trm).
        trm: Duration = Duration::new(100_000_000_000),
        /// Rate increase factor (RIF): share of PCR that an RM cell without CI and NI adds.
        rif: Probability = Probability(0.0625),
        /// Rate decrease factor (RDF): share of the rate that an RM cell with CI removes.
        rdf: Probability = Probability(0.0625),
        /// Cutoff decrease factor (CDF): share of the rate that each RM cell removes while too many RM cells are missing.
        cdf: Probability = Probability(0.0625),
        /// Transient buffer exposure (TBE): number of cells that may be sent before the first RM cell returns, after which CDF applies.
        tbe: Integer<1, 16_777_215> = Integer(16_777_215),
        /// Maximum time for which a rate above ICR may stay unused (ADTF).
        adtf: Duration = Duration::new(500_000_000_000),
        /// Hold acknowledgements at the edge device while it buffers at least this number of packets. Default: never.
        ack_threshold: Option<Integer<1, 1_000_000>>,
    }
}
