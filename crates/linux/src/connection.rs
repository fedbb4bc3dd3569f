//! The state of a connection in the memory of a kernel: `struct tcp_sock`, by the table of its layout.

use crate::fault::{Fault, fault};
use crate::guest_memory::GuestMemory;
use crate::kernels::Manifest;

/// The fields that are read, in the names of the kernel. Fields that a version lacks are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Connection {
    pub(crate) bytes_received: u64,
    /// In-order bytes that the application has not read.
    pub(crate) unread: u64,
    pub(crate) snd_cwnd: u64,
    pub(crate) snd_ssthresh: u64,
    /// Microseconds.
    pub(crate) srtt: u64,
    pub(crate) min_rtt: u64,
    /// Timer ticks.
    pub(crate) rto: u64,
    /// Segments outstanding and not lost (`tcp_packets_in_flight`).
    pub(crate) in_flight: u64,
    pub(crate) total_retrans: u64,
    pub(crate) lost: u64,
    pub(crate) total_rto: u64,
    /// 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss.
    pub(crate) ca_state: u8,
}

/// Reads the state of the connection at this kernel address.
///
/// # Errors
/// The address is not in the kernel's memory, or the state there is that of another port.
pub(crate) fn read(memory: &GuestMemory, manifest: &Manifest, address: u64, remote_port: u16) -> Result<Connection, Fault> {
    let start = address
        .checked_sub(manifest.physmem)
        .ok_or_else(|| Fault(format!("it reported the address {address:#x} of its connection")))?;
    let field = |name: &str| -> Result<u64, Fault> {
        let Some(&(offset, size)) = manifest.fields.get(name) else { return Ok(0) };
        let mut bytes = [0; 8];
        memory.read(start + offset, &mut bytes[..size.min(8) as usize])?;
        Ok(u64::from_le_bytes(bytes))
    };
    // In network byte order. Unlike the local port, it remains after the end of the connection.
    let port = u64::from((field("dport")? as u16).swap_bytes());
    if port != u64::from(remote_port) {
        return fault(format!("the connection at {address:#x} has the remote port {port}; expected {remote_port}"));
    }
    let mut ca_state = [0];
    memory.read(start + manifest.ca_state.0, &mut ca_state)?;
    let outstanding = field("packets_out")? + field("retrans_out")?;
    Ok(Connection {
        bytes_received: field("bytes_received")?,
        unread: (field("rcv_nxt")? as u32).wrapping_sub(field("copied_seq")? as u32).into(),
        snd_cwnd: field("snd_cwnd")?,
        snd_ssthresh: field("snd_ssthresh")?,
        srtt: field("srtt_us")? >> 3,
        min_rtt: field("rtt_min")?,
        rto: field("icsk_rto")?,
        in_flight: outstanding.saturating_sub(field("sacked_out")? + field("lost_out")?),
        total_retrans: field("total_retrans")?,
        lost: field("lost")?,
        total_rto: field("total_rto")?,
        ca_state: (ca_state[0] & manifest.ca_state.1) >> manifest.ca_state.1.trailing_zeros().min(7),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::Kernel;
    use crate::kernels::tests::stored;
    use crate::mapping::tests::memory;

    #[test]
    fn fields_are_read_by_the_layout_of_the_kernel() {
        let mut manifest = stored("6.12.30", 1000, |folder| Kernel::find(folder, None, 1000)).unwrap().manifest;
        let fields =
            [("dport", (0, 2)), ("snd_cwnd", (4, 4)), ("srtt_us", (8, 4)), ("packets_out", (12, 4)), ("lost_out", (16, 4))];
        manifest.fields = fields.into_iter().map(|(name, place)| (name.to_owned(), place)).collect();
        manifest.ca_state = (20, 0x1f);
        let memory = GuestMemory::new(vec![(0x1000, memory(4096))]);
        let words: Vec<u8> = [0xbb01_u32, 10, 40_000 << 3, 7, 2, 0xe3].into_iter().flat_map(u32::to_le_bytes).collect();
        memory.write(0x1800, &words).unwrap();
        let address = manifest.physmem + 0x1800;
        let state = read(&memory, &manifest, address, 443).unwrap();
        let expected = Connection { snd_cwnd: 10, srtt: 40_000, in_flight: 5, ca_state: 3, ..Connection::default() };
        assert_eq!(state, expected);
        let text = read(&memory, &manifest, address, 80).unwrap_err().0;
        assert_eq!(text, "the connection at 0x60001800 has the remote port 443; expected 80");
        assert!(read(&memory, &manifest, 5, 443).is_err());
    }
}
