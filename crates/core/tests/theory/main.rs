//! The simulator against exact and closed-form results.

#[path = "../common/mod.rs"]
mod common;

mod abr;
mod bbrv3;
mod buffer;
mod dctcp;
mod delay_laws;
mod delayed_acks;
mod exact;
mod hosts;
mod l4s;
mod links;
mod loss;
mod prices;
mod queues;
mod response;
mod schedulers;
mod token_buckets;
mod trunk;
