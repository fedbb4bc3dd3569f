//! Packet captures: reads pcap and pcapng, measures TCP connections and UDP flows as observed at one point, and writes pcapng.
//!
//! Start at [`Analyser`], which reads a file and returns tables. Modules:
//!
//! * `read`: the two formats, block by block, and the position at which a damaged file breaks
//! * `link`, `segment`, `datagram`, `quic`: from a frame to its IP packet, and from there to the headers of TCP, UDP and QUIC
//! * `capture_points`: which interfaces see one direction each, and the order of their packets
//! * `connection`: [`Connections`], the counters of each connection and direction, updated packet by packet
//! * `udp_flows`: the same of UDP flows
//! * `tables`: the results as columns
//! * `write`: [`Writer`], pcapng with interface names and comments
//! * `run`: a simulated run as a capture, from its packet trace
//!
//! This crate uses only units and tables of the simulator.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod analyser;
mod capture_points;
mod connection;
mod datagram;
mod flow_key;
mod link;
mod quic;
mod read;
mod round_trips;
mod run;
mod seen_packets;
mod segment;
mod skipped;
mod tables;
mod time;
mod udp_flows;
mod write;

pub use analyser::{Analyser, Damage};
pub use connection::{Connections, Samples};
pub use flow_key::CapturePoint;
pub use link::{LinkType, Vlan};
pub use read::{Interface, OpenError, Packet, ReadError, Reader, Record};
pub use run::{CaptureInfo, write_run};
pub use segment::IpPacket;
pub use segment::is_quic_initial;
pub use skipped::{SkipReason, Skipped};
pub use time::Timestamp;
pub use write::{Captured, Section, Writer};
