//! Real hosts: network stacks behind TUN devices.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read, write};
use std::io;
use std::os::fd::OwnedFd;
use tailback_core::primitives::units::TimeDelta;
use tailback_host::Hosts;

/// Hosts behind TUN devices, which are open and non-blocking.
pub struct Tuns {
    devices: Vec<OwnedFd>,
    /// Space for the longest packet of IPv4.
    buffer: Vec<u8>,
}

impl Tuns {
    pub fn new(devices: Vec<OwnedFd>) -> Tuns {
        Tuns { devices, buffer: vec![0; 65_535] }
    }
}

impl Hosts for Tuns {
    fn take(&mut self, host: usize, packet: &mut Vec<u8>) -> io::Result<bool> {
        loop {
            return match read(&self.devices[host], &mut *self.buffer) {
                Ok(bytes) => {
                    packet.clear();
                    packet.extend_from_slice(&self.buffer[..bytes]);
                    Ok(true)
                }
                Err(Errno::AGAIN) => Ok(false),
                Err(Errno::INTR) => continue,
                Err(error) => Err(error.into()),
            };
        }
    }

    fn give(&mut self, host: usize, packet: &[u8]) -> io::Result<bool> {
        loop {
            return match write(&self.devices[host], packet) {
                Ok(_) => Ok(true),
                // The host is out of buffer space, or its link is down.
                Err(Errno::AGAIN | Errno::NOBUFS | Errno::IO | Errno::INVAL) => Ok(false),
                Err(Errno::INTR) => continue,
                Err(error) => Err(error.into()),
            };
        }
    }

    fn wait(&mut self, at_most: TimeDelta, ready: &mut Vec<usize>) -> io::Result<()> {
        let nanoseconds = at_most.0 / 1000;
        let limit = Timespec { tv_sec: (nanoseconds / 1_000_000_000) as i64, tv_nsec: (nanoseconds % 1_000_000_000) as i64 };
        let mut watched: Vec<_> = self.devices.iter().map(|device| PollFd::new(device, PollFlags::IN)).collect();
        match poll(&mut watched, Some(&limit)) {
            Ok(_) => {
                let sent = watched.iter().enumerate().filter(|(_, device)| !device.revents().is_empty());
                ready.extend(sent.map(|(host, _)| host));
                Ok(())
            }
            Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
