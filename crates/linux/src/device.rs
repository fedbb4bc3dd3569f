//! The network device of a kernel: virtio-net (Virtual I/O Device 1.2, section 5.1) over vhost-user.
//!
//! The device transmits at once, so that the driver needs no interrupt for a sent packet, except where it asks for one. It needs no kick:
//! packets are collected when the kernel waits.

use crate::fault::{Fault, fault};
use crate::guest_memory::GuestMemory;
use crate::mapping::Mapping;
use crate::vhost_user::{self, Header, Request};
use crate::virtqueue::Queue;
use rustix::fd::OwnedFd;
use std::collections::VecDeque;

/// Queues of received and of sent packets, as the driver sees them.
pub(crate) const RECEIVE: usize = 0;
pub(crate) const TRANSMIT: usize = 1;

/// Bytes of `struct virtio_net_hdr_v1`, and of the header of Ethernet.
const NET_HEADER: usize = 12;
const ETHERNET: usize = 14;

/// Flag of a received packet: its checksums are valid.
const DATA_VALID: u8 = 2;

/// Addresses of the interface and of everything else, and the type IPv4 (RFC 894).
const OWN_MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];
const OTHER_MAC: [u8; 6] = [2, 0, 0, 0, 0, 2];
const IPV4: [u8; 2] = [8, 0];

/// The device that the guest program addresses, and the text with which its report begins, after the headers of IPv4 and UDP.
pub(crate) const REPORTS: [u8; 4] = [192, 0, 2, 1];
const HEADERS: usize = 28;
const MAGIC: &[u8] = b"TAILBACK";

/// The device.
pub(crate) struct Device {
    mtu: u16,
    pub(crate) memory: GuestMemory,
    queues: [Queue; 2],
    /// IPv4 packets that the kernel has sent.
    pub(crate) sent: VecDeque<Vec<u8>>,
    /// Buffers for packets.
    spare: Vec<Vec<u8>>,
    /// The address of the connection that the guest program has reported.
    pub(crate) connection: Option<u64>,
}

/// The answer to a message of the driver.
pub(crate) enum Answer {
    Nothing,
    Reply(Vec<u8>),
    /// The channel for interrupts, and the reply.
    Channel(OwnedFd, Vec<u8>),
}

impl Device {
    /// `mtu`: bytes of the largest IP packet.
    pub(crate) fn new(mtu: u16) -> Device {
        let memory = GuestMemory::default();
        Device { mtu, memory, queues: Default::default(), sent: VecDeque::new(), spare: Vec::new(), connection: None }
    }

    /// Handles a message of the driver, with the file descriptors in it.
    pub(crate) fn handle(&mut self, header: Header, payload: &[u8], files: Vec<OwnedFd>) -> Result<Answer, Fault> {
        let Some(request) = header.request(payload) else { return fault("its network driver sent an invalid message") };
        let mut channel = None;
        match request {
            Request::GetFeatures => return Ok(Answer::Reply(header.reply(&vhost_user::features(self.mtu).to_le_bytes()))),
            Request::GetProtocolFeatures => {
                return Ok(Answer::Reply(header.reply(&vhost_user::protocol_features().to_le_bytes())));
            }
            Request::GetConfig { offset, size } => {
                return Ok(Answer::Reply(header.reply(&vhost_user::configuration(&self.configuration(), offset, size))));
            }
            Request::SetMemory(regions) => {
                if regions.len() != files.len() {
                    return fault("its network driver gave regions of memory without files");
                }
                let map = |([start, size, offset], file): ([u64; 3], OwnedFd)| Ok((start, Mapping::new(file, offset, size)?));
                self.memory = GuestMemory::new(regions.into_iter().zip(files).map(map).collect::<Result<_, Fault>>()?);
            }
            Request::SetQueueSize { queue, size } => self.queue(queue)?.size = u16::try_from(size).unwrap_or(0),
            Request::SetQueueBase { queue, base } => self.queue(queue)?.next_available = base as u16,
            Request::SetQueueAddresses { queue, descriptors, used, available } => {
                let addressed = self.queue(queue)?;
                (addressed.descriptors, addressed.used, addressed.available) = (descriptors, used, available);
                if queue as usize == TRANSMIT {
                    self.queues[TRANSMIT].suppress_notifications(&self.memory)?;
                }
            }
            Request::SetBackendChannel => channel = files.into_iter().next(),
            Request::Kick { queue } => {
                if queue as usize == TRANSMIT {
                    self.collect()?;
                }
            }
            Request::Ignored => {}
        }
        let reply = if header.needs_reply() { header.acknowledgement() } else { Vec::new() };
        Ok(match channel {
            Some(channel) => Answer::Channel(channel, reply),
            None if reply.is_empty() => Answer::Nothing,
            None => Answer::Reply(reply),
        })
    }

    fn queue(&mut self, queue: u32) -> Result<&mut Queue, Fault> {
        self.queues.get_mut(queue as usize).ok_or_else(|| Fault(format!("its network driver has a queue {queue}")))
    }

    /// `struct virtio_net_config`: address, status (link up), number of queue pairs, MTU.
    fn configuration(&self) -> Vec<u8> {
        [&OWN_MAC[..], &1_u16.to_le_bytes(), &1_u16.to_le_bytes(), &self.mtu.to_le_bytes()].concat()
    }

    /// Takes all packets that the kernel has sent. Returns whether the driver wants an interrupt for them.
    pub(crate) fn collect(&mut self) -> Result<bool, Fault> {
        let mut is_any = false;
        while let Some(head) = self.queues[TRANSMIT].take(&self.memory)? {
            let mut packet = self.spare.pop().unwrap_or_default();
            packet.clear();
            self.queues[TRANSMIT].read(&self.memory, head, &mut packet)?;
            self.queues[TRANSMIT].complete(&self.memory, head, 0)?;
            self.sort(packet);
            is_any = true;
        }
        Ok(is_any && self.queues[TRANSMIT].wants_interrupt(&self.memory)?)
    }

    /// Keeps an IPv4 packet without its link headers; takes out the report of the guest program.
    fn sort(&mut self, mut packet: Vec<u8>) {
        let is_ip = packet.len() >= NET_HEADER + ETHERNET + 20 && packet[NET_HEADER + 12..NET_HEADER + 14] == IPV4;
        if !is_ip {
            return self.spare.push(packet);
        }
        packet.drain(..NET_HEADER + ETHERNET);
        if packet[16..20] != REPORTS {
            return self.sent.push_back(packet);
        }
        if let Some(report) = packet.get(HEADERS..).and_then(|payload| payload.strip_prefix(MAGIC)) {
            self.connection = report.first_chunk().map(|address| u64::from_le_bytes(*address));
        }
        self.spare.push(packet);
    }

    /// Returns the buffer of a packet for reuse.
    pub(crate) fn recycle(&mut self, packet: Vec<u8>) {
        self.spare.push(packet);
    }

    /// Writes an IPv4 packet to the next receive buffer. Returns whether the driver wants an interrupt for it.
    pub(crate) fn receive(&mut self, packet: &[u8]) -> Result<bool, Fault> {
        let queue = &mut self.queues[RECEIVE];
        let Some(head) = queue.take(&self.memory)? else { return fault("it has no buffer for an arriving packet") };
        let mut frame = self.spare.pop().unwrap_or_default();
        frame.clear();
        // Flags, no segmentation offload, and 1 buffer (bytes 10 and 11).
        frame.extend_from_slice(&[DATA_VALID, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0]);
        frame.extend([&OWN_MAC[..], &OTHER_MAC, &IPV4].concat());
        frame.extend_from_slice(packet);
        queue.write(&self.memory, head, &frame)?;
        queue.complete(&self.memory, head, frame.len() as u32)?;
        self.spare.push(frame);
        self.queues[RECEIVE].wants_interrupt(&self.memory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(destination: [u8; 4], payload: &[u8]) -> Vec<u8> {
        let mut ip = vec![0x45; 16];
        ip.extend(destination);
        ip.extend([0; 8]);
        ip.extend(payload);
        [&[0; NET_HEADER][..], &[0; 12], &IPV4, &ip].concat()
    }

    #[test]
    fn the_report_of_the_guest_is_not_a_packet_of_the_flow() {
        let mut device = Device::new(1500);
        device.sort(frame([198, 18, 0, 2], b"data"));
        device.sort(frame(REPORTS, &[MAGIC, &0x6000_1234_u64.to_le_bytes()].concat()));
        device.sort(vec![0; 40]);
        assert_eq!((device.sent.len(), device.connection), (1, Some(0x6000_1234)));
        assert_eq!(device.sent[0][28..], *b"data");
    }

    #[test]
    fn a_device_without_rings_has_no_packets_and_no_buffers() {
        let mut device = Device::new(1500);
        assert_eq!(device.collect(), Ok(false));
        assert_eq!(device.receive(&[0; 40]).unwrap_err().0, "it has no buffer for an arriving packet");
        assert_eq!(device.configuration(), [2, 0, 0, 0, 0, 1, 1, 0, 1, 0, 220, 5]);
    }
}
