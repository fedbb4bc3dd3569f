//! Tests of the engine through its public interface, with networks of every kind.

#[path = "../common/mod.rs"]
mod common;

mod api;
mod applications;
mod controllers;
mod fast_retransmit;
mod interval;
mod messages;
mod overload;
mod properties;
mod rates;
mod sequences;
mod switching;
mod transports;
mod user_code;
