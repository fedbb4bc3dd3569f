//! Captures of packets: pcap and pcapng are read, TCP connections measured as they are seen at one point, pcapng is written.
//!
//! Start at [`Analyser`], which takes a file and says what was in it. From there down:
//!
//! * `read`: the two formats, block by block, with the place where a damaged file breaks
//! * `link`, `segment`: from a frame to its IP packet, and from there to what a TCP header says
//! * `connection`: [`Connections`], what is counted of each connection and direction, packet by packet
//! * `tables`: the same as columns
//! * `write`: [`Writer`], pcapng with names of interfaces and comments
//! * `run`: a simulated run as a capture, from its trace of packets
//!
//! Nothing here knows the simulator, except for the shape of its tables.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod analyser;
mod connection;
mod link;
mod read;
mod run;
mod segment;
mod skipped;
mod tables;
mod time;
mod write;

pub use analyser::{Analyser, Damage};
pub use connection::{Connections, Point, Samples};
pub use link::LinkType;
pub use read::{Interface, OpenError, Packet, ReadError, Reader, Record};
pub use run::{About, write_run};
pub use segment::IpPacket;
pub use skipped::{Reason, Skipped};
pub use time::Timestamp;
pub use write::{Captured, Section, Writer};
