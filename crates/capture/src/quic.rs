//! The part of QUIC headers that is not encrypted (RFC 8999, RFC 9000 section 17, RFC 9369 section 3).

/// The first packet of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QuicHeader {
    Long {
        version: u32,
        is_initial: bool,
    },
    /// RFC 9000 section 17.3.1, with its spin bit (section 17.4).
    Short {
        spin: bool,
    },
}

pub(crate) const VERSION_1: u32 = 1;
pub(crate) const VERSION_2: u32 = 0x6b33_43cf;
/// The versions of drafts end with the number of the draft.
const DRAFTS: u32 = 0xff00_0000;

/// RFC 9000 section 17.2.
const LONGEST_CONNECTION_ID: u8 = 20;

impl QuicHeader {
    /// The header at the beginning of a payload of UDP, whose end may be missing. `None` if it is none, or of an unknown version. Any
    /// payload whose first bit is 0 has the form of a short header: the second bit, which is 1 in version 1, is greased (RFC 9287).
    pub(crate) fn of(payload: &[u8]) -> Option<QuicHeader> {
        let &first = payload.first()?;
        if first & 0x80 == 0 {
            return Some(QuicHeader::Short { spin: first & 0x20 != 0 });
        }
        let version = u32::from_be_bytes(*payload.get(1..)?.first_chunk()?);
        let is_known = version == VERSION_1 || version == VERSION_2 || (1..=0xff).contains(&(version ^ DRAFTS));
        let has_connection_id = payload.get(5).is_some_and(|&length| length <= LONGEST_CONNECTION_ID);
        if !is_known || !has_connection_id || first & 0x40 == 0 {
            return None;
        }
        let initial = if version == VERSION_2 { 0x10 } else { 0 };
        Some(QuicHeader::Long { version, is_initial: first & 0x30 == initial })
    }
}

/// The name of a version, as in the documents that define them.
pub(crate) fn version_name(version: u32) -> String {
    match version {
        VERSION_1 => "1".into(),
        VERSION_2 => "2".into(),
        draft => format!("draft-{:02}", draft & 0xff),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_recognised_by_their_first_bytes() {
        let long = |first: u8, version: u32, length: u8| [&[first], version.to_be_bytes().as_slice(), &[length, 0, 0]].concat();
        let of = |first, version, length| QuicHeader::of(&long(first, version, length));
        assert_eq!(of(0xc3, 1, 8), Some(QuicHeader::Long { version: 1, is_initial: true }));
        assert_eq!(of(0xe3, 1, 8), Some(QuicHeader::Long { version: 1, is_initial: false }));
        assert_eq!(of(0xd3, VERSION_2, 8), Some(QuicHeader::Long { version: VERSION_2, is_initial: true }));
        assert_eq!(of(0xc3, 0xff00_001d, 8), Some(QuicHeader::Long { version: 0xff00_001d, is_initial: true }));
        assert_eq!([of(0xc3, 77, 8), of(0xc3, 1, 21), of(0x83, 1, 8), QuicHeader::of(&[0xc3, 0, 0])], [None; 4]);
        assert_eq!(QuicHeader::of(&[0x61]), Some(QuicHeader::Short { spin: true }));
        assert_eq!(QuicHeader::of(&[0x41]), Some(QuicHeader::Short { spin: false }));
        assert_eq!(QuicHeader::of(&[0x21]), Some(QuicHeader::Short { spin: true }));
        assert_eq!(QuicHeader::of(&[]), None);
    }

    #[test]
    fn versions_have_names() {
        assert_eq!([VERSION_1, VERSION_2, 0xff00_001d].map(version_name), ["1", "2", "draft-29"]);
    }
}
