//! Messages of vhost-user ("Vhost-user Protocol", in the documentation of QEMU), as the device receives and sends them.
//!
//! A message is a header of three words (request, flags, bytes of the payload) and its payload, in the byte order of the machine, which is
//! little-endian. In-band notifications carry kicks and interrupts as messages, as virtual time requires.

/// Version in the flags of each message, and the flags of replies.
const VERSION: u32 = 1;
const REPLY: u32 = 1 << 2;
const NEED_REPLY: u32 = 1 << 3;

/// Bytes of a header.
pub(crate) const HEADER: usize = 12;
/// Bytes of the longest payload: that of GET_CONFIG.
pub(crate) const LONGEST: usize = 12 + 256;

/// Features of the device (Virtual I/O Device 1.2): version 1, MTU in the configuration, checksums of received packets are valid, MAC
/// address.
const VIRTIO_F_VERSION_1: u64 = 1 << 32;
const VIRTIO_NET_F_GUEST_CSUM: u64 = 1 << 1;
const VIRTIO_NET_F_MTU: u64 = 1 << 3;
const VIRTIO_NET_F_MAC: u64 = 1 << 5;
/// The protocol has features of its own: replies to each message, a channel for requests of the device, the configuration, and in-band
/// notifications.
const VHOST_USER_F_PROTOCOL_FEATURES: u64 = 1 << 30;
const PROTOCOL_FEATURES: u64 = 1 << 3 | 1 << 5 | 1 << 9 | 1 << 14;

/// The header of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    request: u32,
    flags: u32,
    pub(crate) size: usize,
}

/// A request of the driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    GetFeatures,
    GetProtocolFeatures,
    /// The configuration from an offset.
    GetConfig {
        offset: u32,
        size: u32,
    },
    /// The memory: guest address, size and offset in its file of each region.
    SetMemory(Vec<[u64; 3]>),
    SetQueueSize {
        queue: u32,
        size: u32,
    },
    SetQueueBase {
        queue: u32,
        base: u32,
    },
    SetQueueAddresses {
        queue: u32,
        descriptors: u64,
        used: u64,
        available: u64,
    },
    /// The channel for requests of the device is attached.
    SetBackendChannel,
    /// New chains are available.
    Kick {
        queue: u32,
    },
    /// Nothing to do here.
    Ignored,
}

fn word(payload: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(payload.get(at..at + 4)?.try_into().ok()?))
}

fn double(payload: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(payload.get(at..at + 8)?.try_into().ok()?))
}

impl Header {
    /// `None`: the message is longer than any that the driver sends.
    pub(crate) fn of(bytes: [u8; HEADER]) -> Option<Header> {
        let (request, flags, size) = (word(&bytes, 0)?, word(&bytes, 4)?, word(&bytes, 8)?);
        let size = usize::try_from(size).ok().filter(|&size| size <= LONGEST)?;
        Some(Header { request, flags, size })
    }

    /// Whether the driver waits for a reply that only acknowledges the message.
    pub(crate) fn needs_reply(&self) -> bool {
        self.flags & NEED_REPLY != 0
    }

    /// The request with this payload; `None` if it is unknown or not valid.
    pub(crate) fn request(&self, payload: &[u8]) -> Option<Request> {
        let state = || Some((word(payload, 0)?, word(payload, 4)?));
        Some(match self.request {
            1 => Request::GetFeatures,
            // SET_FEATURES, SET_OWNER, SET_PROTOCOL_FEATURES; descriptors of kicks and interrupts, which in-band notifications replace;
            // SET_VRING_ENABLE.
            2 | 3 | 12 | 13 | 16 | 18 => Request::Ignored,
            5 => {
                let count = word(payload, 0)?.min(8) as usize;
                let region = |index: usize| {
                    let at = 8 + 32 * index;
                    Some([double(payload, at)?, double(payload, at + 8)?, double(payload, at + 24)?])
                };
                Request::SetMemory((0..count).map(region).collect::<Option<_>>()?)
            }
            8 => state().map(|(queue, size)| Request::SetQueueSize { queue, size })?,
            9 => Request::SetQueueAddresses {
                queue: word(payload, 0)?,
                descriptors: double(payload, 8)?,
                used: double(payload, 16)?,
                available: double(payload, 24)?,
            },
            10 => state().map(|(queue, base)| Request::SetQueueBase { queue, base })?,
            15 => Request::GetProtocolFeatures,
            21 => Request::SetBackendChannel,
            24 => Request::GetConfig { offset: word(payload, 0)?, size: word(payload, 4)? },
            35 => Request::Kick { queue: word(payload, 0)? },
            _ => return None,
        })
    }

    /// The reply to this message with a payload.
    pub(crate) fn reply(&self, payload: &[u8]) -> Vec<u8> {
        message(self.request, VERSION | REPLY, payload)
    }

    /// The reply that acknowledges this message.
    pub(crate) fn acknowledgement(&self) -> Vec<u8> {
        self.reply(&0_u64.to_le_bytes())
    }
}

/// The features of a device with this MTU. Without the feature, receive buffers have 1500 bytes.
pub(crate) fn features(mtu: u16) -> u64 {
    let mtu = if mtu > 1500 { VIRTIO_NET_F_MTU } else { 0 };
    VIRTIO_F_VERSION_1 | VIRTIO_NET_F_GUEST_CSUM | VIRTIO_NET_F_MAC | VHOST_USER_F_PROTOCOL_FEATURES | mtu
}

pub(crate) fn protocol_features() -> u64 {
    PROTOCOL_FEATURES
}

/// The payload of a reply to GET_CONFIG.
pub(crate) fn configuration(content: &[u8], offset: u32, size: u32) -> Vec<u8> {
    let mut payload = [offset, size, 0].map(u32::to_le_bytes).concat();
    let from = content.iter().skip(offset as usize).copied().chain(std::iter::repeat(0));
    payload.extend(from.take((size as usize).min(LONGEST - 12)));
    payload
}

/// The request VRING_CALL of the device: an interrupt of a queue. The driver replies.
pub(crate) fn interrupt(queue: u32) -> Vec<u8> {
    let payload = [queue, 0].map(u32::to_le_bytes).concat();
    message(4, VERSION | NEED_REPLY, &payload)
}

/// Bytes of the reply to an interrupt.
pub(crate) const INTERRUPT_REPLY: usize = HEADER + 8;

fn message(request: u32, flags: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = [request, flags, payload.len() as u32].map(u32::to_le_bytes).concat();
    bytes.extend_from_slice(payload);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(request: u32, payload: &[u8]) -> Option<Request> {
        let bytes = message(request, VERSION | NEED_REPLY, payload);
        let header = Header::of(bytes[..HEADER].try_into().unwrap()).unwrap();
        assert_eq!((header.size, header.needs_reply()), (payload.len(), true));
        header.request(&bytes[HEADER..])
    }

    fn bytes(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn requests_are_parsed_and_damaged_ones_refused() {
        assert_eq!(parsed(1, &[]), Some(Request::GetFeatures));
        let size = [1_u32.to_le_bytes(), 256_u32.to_le_bytes()].concat();
        assert_eq!(parsed(8, &size), Some(Request::SetQueueSize { queue: 1, size: 256 }));
        let addresses = Request::SetQueueAddresses { queue: 1, descriptors: 2, used: 3, available: 4 };
        assert_eq!(parsed(9, &bytes(&[1, 2, 3, 4, 5])), Some(addresses));
        let memory = bytes(&[2, 0x1000, 0x2000, 9, 0x40, 0x8000, 0x3000, 9, 0x80]);
        assert_eq!(parsed(5, &memory), Some(Request::SetMemory(vec![[0x1000, 0x2000, 0x40], [0x8000, 0x3000, 0x80]])));
        assert_eq!(parsed(5, &memory[..70]), None);
        assert_eq!((parsed(9, &bytes(&[1, 2])), parsed(8, &[0; 5]), parsed(99, &[])), (None, None, None));
        assert_eq!(Header::of([0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0]), None);
    }

    #[test]
    fn replies_have_the_request_and_the_version() {
        let header = Header { request: 15, flags: VERSION, size: 0 };
        assert_eq!(header.reply(&[7]), [15, 0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 7]);
        assert_eq!(header.acknowledgement().len(), INTERRUPT_REPLY);
        assert_eq!(configuration(&[1, 2, 3], 1, 4), [1, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 2, 3, 0, 0]);
        assert_eq!(interrupt(1)[..12], [4, 0, 0, 0, 9, 0, 0, 0, 8, 0, 0, 0]);
        assert_eq!(features(9000) & !features(1500), VIRTIO_NET_F_MTU);
    }
}
