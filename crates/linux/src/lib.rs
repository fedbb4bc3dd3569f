//! Linux kernels as hosts of a simulated network: unmodified kernels, in virtual time.
//!
//! Each end of a flow is a kernel of User-mode Linux that `tailback kernel build` has built from its source. It is a process of the user. Its
//! time-travel mode hands its clock to this crate, and its only device is a network interface that this crate implements. Nothing in it
//! depends on real time or on random numbers of the host, so that the same scenario gives the same packets.
//!
//! * [`library`]: the stack `linux`, behind the interface of C
//! * [`kernels`]: the kernels that are built
//! * [`sources`]: the sources that a build compiles: the guest program, the table of the connection's layout, the configuration
//! * `host`: a kernel as one end of a flow
//! * `settings`, `command_line`: parameters of a scenario, and the kernel's options for them
//! * `machine`: a kernel in virtual time
//! * `process`, `launcher`: its process, and the thread that starts it
//! * `time_protocol`: its clock
//! * `device`, `vhost_user`, `virtqueue`: its network interface
//! * `guest_memory`, `mapping`: its memory
//! * `connection`: the state of its connection
//! * `fault`: its faults
//!
//! `unsafe` is in `mapping` (shared memory), `launcher` (settings of the child) and `library` (the interface of C). The kernel is a separate
//! program under GPL-2.0, started by exec and connected by sockets and shared memory; this crate contains nothing of it.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking"))]
#![cfg_attr(not(all(target_os = "linux", target_arch = "x86_64")), allow(dead_code, reason = "no kernel runs on this platform"))]

mod command_line;
pub mod kernels;
pub mod library;
mod settings;
pub mod sources;
mod vhost_user;

/// Modules that use system calls of Linux.
macro_rules! on_linux {
    ($($module:ident)+) => {
        $(#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
        mod $module;)+
    };
}

on_linux! { connection device fault guest_memory host launcher machine mapping process time_protocol virtqueue }

/// A fingerprint of the sources from which this crate was built.
pub const SOURCES: &str = env!("TAILBACK_SOURCES");
