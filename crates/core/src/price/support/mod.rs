//! The interface of price schemes and their shared parts: averages, identifications, mappings of prices, and their way back to the sender.

pub(super) mod average;
pub(super) mod identification;
pub(super) mod mapping;
pub(super) mod scheme;
pub(super) mod way_back;

pub(super) use identification::{Identification, Numbering};
pub(super) use mapping::MappedPrice;
pub(super) use scheme::{Combination, QueuePrice, Scheme};
