//! Receives open devices as messages on a socket (`SCM_RIGHTS`, unix(7)), by which another process hands over its devices.

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use std::io::{self, ErrorKind, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

/// The inner end of the socket.
pub struct TunDevice(UnixStream);

/// Largest number of devices in one message (`SCM_MAX_FD`).
const MAX: usize = 253;

impl TunDevice {
    /// Returns the door, and the end through which devices are to be sent.
    ///
    /// # Errors
    /// If no socket can be created.
    pub fn open() -> io::Result<(TunDevice, OwnedFd)> {
        let (inside, outside) = UnixStream::pair()?;
        Ok((TunDevice(inside), outside.into()))
    }

    /// Waits for `count` devices.
    ///
    /// # Errors
    /// If the other end is closed before all have arrived.
    pub fn take(&self, count: usize) -> io::Result<Vec<OwnedFd>> {
        let mut devices = Vec::with_capacity(count);
        while devices.len() < count {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX))];
            let mut control = RecvAncillaryBuffer::new(&mut space);
            let mut byte = [0; MAX];
            let received = recvmsg(&self.0, &mut [IoSliceMut::new(&mut byte)], &mut control, RecvFlags::empty())?;
            for message in control.drain() {
                if let RecvAncillaryMessage::ScmRights(files) = message {
                    devices.extend(files);
                }
            }
            if received.bytes == 0 {
                let text = format!("received {} of {count} devices", devices.len());
                return Err(io::Error::new(ErrorKind::UnexpectedEof, text));
            }
        }
        Ok(devices)
    }
}
