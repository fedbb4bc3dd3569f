//! How a port writes its price on packets.

use crate::network::{self, Network};
use crate::price::{Combination, PriceSpec, QueuePrice};
use crate::primitives::random::{Draws, Entity, Purpose, Stream};
use crate::primitives::signal::PriceHeader;
use crate::queue::{Policies, Unit};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PriceWriter {
    spec: PriceSpec,
    /// The path price is the sum of the port prices rather than their maximum.
    adds: bool,
    /// Prices are written by a user's policy.
    pub(super) is_user_written: bool,
    draws: Draws,
    /// The last price and its encoding. The price changes once per period.
    last: (f64, QueuePrice),
}

impl PriceWriter {
    /// `None` for a port without a price. A user's policy writes its own if prices travel as marks.
    pub(super) fn new(port: &network::Port, of: &Network, policy: &Policies) -> Option<PriceWriter> {
        let is_user_written = matches!(policy, Policies::User(..)) && of.prices.is_marked();
        let meaning = port.policy.price_meaning();
        (is_user_written || meaning.is_some()).then(|| PriceWriter {
            spec: of.prices,
            adds: meaning.is_some_and(|meaning| meaning.combines() == Combination::Sum),
            is_user_written,
            draws: Draws::new(Stream::new(Entity { seed: of.seed, name: &port.name, index: 0 }, Purpose::Price)),
            last: (f64::NAN, QueuePrice::default()),
        })
    }

    /// Write the price of this policy, or the one that a user's policy has `written`. Returns whether it was outside the mapping's range.
    pub(super) fn write(&mut self, policy: &mut Policies, unit: &Unit, written: Option<f64>, header: &mut PriceHeader) -> bool {
        if self.is_user_written && written.is_none() {
            return false;
        }
        header.probe.hops = header.probe.hops.saturating_add(1);
        policy.write_price_header(unit, header);
        let Some(price) = written.or_else(|| policy.price()) else { return false };
        if self.last.0.to_bits() != price.to_bits() {
            self.last = (price, self.spec.queue_price(price));
        }
        if self.spec.is_marked() {
            self.spec.scheme.mark(&mut header.probe, self.last.1, &mut self.draws);
        } else {
            header.price = Some(match header.price {
                Some(before) if self.adds => before + price,
                Some(before) => before.max(price),
                None => price,
            });
        }
        self.spec.has_range() && !self.spec.mapping.covers(price)
    }
}
