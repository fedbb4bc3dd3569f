//! The command line of a kernel: its options, and the settings of the guest program, which the kernel passes on as its environment.
//!
//! The kernel mixes the whole line into its random numbers. It therefore contains the seed, and nothing that differs between computers,
//! users or runs: files are named relative to the folder in which the kernel starts.

use crate::settings::Settings;
use std::fmt::Write;
use tailback_core::primitives::units::Time;
use tailback_host::library::EndSettings;

/// The kernel's own time at the start of the simulation, in ns. It boots before.
pub(crate) const BASE: u64 = 2_000_000_000;

/// Files in the folder of a kernel: the sockets of both protocols, and its root file system.
pub(crate) const TIME_SOCKET: &str = "time";
pub(crate) const DEVICE_SOCKET: &str = "net";
pub(crate) const ROOT: &str = "guest";

/// The data of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Data {
    /// Always available.
    Greedy,
    /// Written by an application, which the host reports to the guest program.
    Written,
}

/// The arguments of the kernel.
pub(crate) fn arguments(end: &EndSettings, settings: &Settings, data: Data) -> Vec<String> {
    let nanoseconds = |time: Time| time.0 / 1000;
    let mut line = vec![
        format!("mem={}M", settings.memory),
        format!("time-travel=ext:1:{TIME_SOCKET}"),
        format!("virtio_uml.device={DEVICE_SOCKET}:1"),
        format!("initrd={ROOT}"),
        "uml_dir=uml".into(),
        "con=null".into(),
        "con0=null,fd:1".into(),
        "quiet".into(),
        // The address of the connection's state is readable in /proc/net/tcp.
        "no_hash_pointers".into(),
        // A packet belongs to its socket until the device has sent it, which happens at once: without an interrupt for each.
        "virtio_net.napi_tx=0".into(),
        format!("TB_SEED={}", end.seed),
        format!("TB_LOCAL={}", end.local.ip()),
        format!("TB_REMOTE={}", end.remote.ip()),
        format!("TB_LPORT={}", end.local.port()),
        format!("TB_RPORT={}", end.remote.port()),
        format!("TB_CC={}", settings.congestion),
        format!("TB_SENDER={}", u8::from(end.is_sender)),
        format!("TB_BASE={BASE}"),
        format!("TB_START={}", nanoseconds(end.start)),
        format!("TB_MTU={}", end.mtu.0),
        format!("TB_GSO={}", settings.gso),
        format!("TB_SYSCTL={}", list(&settings.sysctls)),
    ];
    if end.stop < Time::NEVER {
        line.push(format!("TB_STOP={}", nanoseconds(end.stop)));
    }
    line.extend(end.size.map(|size| format!("TB_SIZE={}", size.0)));
    if data == Data::Written {
        line.push("TB_APPLICATION=1".into());
    }
    if settings.quickack {
        line.push("TB_QUICKACK=1".into());
    }
    line.extend(settings.read_interval.map(|interval| format!("TB_READ_INTERVAL={}", interval.0 / 1000)));
    line
}

/// Files and contents for the guest program, which decodes `%XX`.
fn list(sysctls: &[(String, String)]) -> String {
    let encode = |value: &str| {
        value.bytes().fold(String::new(), |mut text, byte| {
            if byte.is_ascii_alphanumeric() || b"._-/".contains(&byte) {
                text.push(byte.into());
            } else {
                let _ = write!(text, "%{byte:02X}");
            }
            text
        })
    };
    sysctls.iter().map(|(file, value)| format!("{file}={}", encode(value))).collect::<Vec<_>>().join(";")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_sysctls_are_one_word() {
        let sysctls = [("net/ipv4/tcp_rmem".into(), "1 2 3".into()), ("a/b".into(), "\"x;%\"".into())];
        assert_eq!(list(&sysctls), "net/ipv4/tcp_rmem=1%202%203;a/b=%22x%3B%25%22");
    }
}
