//! Analysis of a capture: advanced in slices without the GIL, returned as tables.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;

use crate::simulation::named;
use crate::table::Table;
use pyo3::prelude::*;
use tailback_capture::{Analyser, CaptureInfo, OpenError, Samples, write_run};

/// Writes the packet trace of a run as pcapng.
#[pyfunction]
#[pyo3(signature = (packets, path, *, scenario, seed))]
pub fn write_capture(py: Python<'_>, packets: &Table, path: PathBuf, scenario: &str, seed: u64) -> PyResult<()> {
    let packets = packets.to_core();
    py.detach(|| {
        let application = concat!("Tailback ", env!("CARGO_PKG_VERSION"));
        let out = BufWriter::new(File::create(path)?);
        write_run(out, &packets, &CaptureInfo { application, scenario, seed })?;
        Ok(())
    })
}

/// A capture that is read from its beginning.
#[pyclass(module = "tailback._core")]
pub struct CaptureAnalysis {
    analyser: Analyser<File>,
    /// Size of the file in bytes when it was opened.
    #[pyo3(get)]
    file_bytes: u64,
}

#[pymethods]
impl CaptureAnalysis {
    #[new]
    #[pyo3(signature = (path, *, samples))]
    fn new(py: Python<'_>, path: PathBuf, samples: bool) -> PyResult<Self> {
        let samples = if samples { Samples::Stored } else { Samples::Summed };
        let opened = py.detach(|| {
            let file = File::open(&path).map_err(OpenError::Unreadable)?;
            let file_bytes = file.metadata().map_err(OpenError::Unreadable)?.len();
            Ok(Self { analyser: Analyser::open(file, samples)?, file_bytes })
        });
        opened.map_err(|error: OpenError| match error {
            OpenError::Unreadable(error) => error.into(),
            OpenError::NotACapture(_) => pyo3::exceptions::PyValueError::new_err(error.to_string()),
        })
    }

    /// Processes at most `packets` packets. Returns true at the end of the file, or where it is damaged.
    fn advance(&mut self, py: Python<'_>, packets: u64) -> PyResult<bool> {
        Ok(py.detach(|| self.analyser.advance(packets))?)
    }

    #[getter]
    fn bytes_read(&self) -> u64 {
        self.analyser.bytes_read()
    }

    #[getter]
    fn packets(&self) -> u64 {
        self.analyser.packets()
    }

    /// Packets that are earlier than the packet before, by the name of their point of capture.
    #[getter]
    fn packets_out_of_time(&self) -> Vec<(String, u64)> {
        self.analyser.packets_out_of_time()
    }

    /// Names of points of capture that see one direction each, and are analysed as one.
    #[getter]
    fn joined(&self) -> Vec<(String, String)> {
        self.analyser.joined()
    }

    /// The earliest timestamp in nanoseconds since 1970.
    #[getter]
    fn began_ns(&self) -> Option<i64> {
        self.analyser.began().map(|at| at.0)
    }

    #[getter]
    fn comments(&self) -> Vec<String> {
        self.analyser.comments().to_vec()
    }

    /// Position and cause of damage in the file.
    #[getter]
    fn damage(&self) -> Option<(u64, String)> {
        self.analyser.damage().map(|damage| (damage.at_byte, damage.message.clone()))
    }

    /// Losses that are missing in the table `losses`.
    #[getter]
    fn losses_left_out(&self) -> u64 {
        self.analyser.losses_left_out()
    }

    /// Tables `connections`, `udp_flows`, `skipped`, `losses`, and with samples `rtt` and `in_flight`.
    fn tables(&self, py: Python<'_>) -> PyResult<Vec<(String, Py<Table>)>> {
        py.detach(|| self.analyser.tables()).into_iter().map(|table| named(py, table)).collect()
    }
}
