//! Hosts whose packets cross a simulated network.
//!
//! A [`Host`] is a transport without sockets and clocks: it is told what has arrived and what time it is, and hands out packets. A
//! [`Testbed`] connects hosts by the network of a scenario and runs them in virtual time, where the same inputs give the same bytes.
//! [`Driver`] carries the packets of real hosts in real time, with a clock and devices of another crate.
//!
//! Modules:
//!
//! * `host`: the interface of a transport
//! * `testbed`: hosts on the nodes of a scenario, and the results of a run
//! * `virtual_run`: a run in virtual time, in slices
//! * `virtual_network`: the engine and the hosts of such a run, on one or several threads
//! * `virtual_hosts`: hosts in virtual time, and their errors
//! * `frame`: IPv4 and UDP headers
//! * `library`: transports in libraries with a C interface
//! * `controllers`: congestion controllers in libraries
//! * `report`: the state of a transport as it reports it
//! * `flow_reports`: reports in the results of a run
//! * `host_loop`: the event loop
//! * `driver`: an engine and such a loop, in real time
//! * `hosts`: sources and destinations of packets, as the loop sees them
//! * `pacer`: the clock of a loop, which is set back after stalls of the machine, and its lateness
//! * `nat`: changes of the port that others see
//! * `ip`: addresses and ECN field of a packet
//! * `in_flight`: the packets in the network
//! * `deliveries`: those that will arrive, in order of time
//! * `segment_numbers`: the numbers of segments, for listed drops
//! * `packet_observer`: TCP connections as measured at the hosts, and a capture
//!
//! The engine has no knowledge of hosts: it sees sizes and ECN fields, and reports the fate of each packet.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking"))]

pub mod controllers;
mod deliveries;
mod driver;
mod flow_reports;
mod frame;
mod host;
mod host_loop;
mod hosts;
mod in_flight;
mod ip;
pub mod library;
mod nat;
mod pacer;
mod packet_observer;
pub mod report;
mod segment_numbers;
mod testbed;
mod virtual_hosts;
mod virtual_network;
mod virtual_run;

pub use driver::{Driver, DriverControl};
pub use frame::{Datagram, Framing};
pub use host::{Host, Outbox, report_fault};
pub use host_loop::{AddressPair, RejectedPackets, RunProperties};
pub use hosts::Hosts;
pub use ip::EcnField;
pub use nat::Rebinding;
pub use pacer::{Clock, Monotonic};
pub use packet_observer::PacketObserver;
pub use report::{ConnectionEnd, ConnectionState, RttSamples, TransportReport};
pub use segment_numbers::ListedSegments;
pub use testbed::{Outcome, Testbed, TestbedError};
pub use virtual_hosts::{HostError, HostFault};
pub use virtual_run::VirtualRun;

/// A fingerprint of the sources from which this crate was built.
pub const SOURCES: &str = env!("TAILBACK_SOURCES");
