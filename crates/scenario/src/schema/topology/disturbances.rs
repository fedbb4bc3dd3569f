//! Impairments of all links of a generator.

use super::plan::Style;
use crate::probability::Probability;
use crate::quantity::Size;
use crate::record::record;
use crate::schema::link::{GilbertElliott, Jitter, Loss};
use crate::values::Word;
use tailback_core::network::LossAt;

record! {
    /// Impairments of every link, independently. They apply to the reverse link too if it has the same queue.
    pub struct Disturbances {
        /// Random losses of each link.
        loss: Option<ChanceLoss>,
        /// Random delay that each link adds for each packet.
        jitter: Option<Jitter>,
        /// Probability that a packet that is not lost is duplicated.
        duplication: Probability = Probability(0.0),
        /// Largest packet that each link carries in both directions, with its IP header; larger ones are discarded. Default: no limit.
        mtu: Option<Size>; "1400 B",
    }
}

record! {
    /// Random losses. Listed drops are available only for links in `links`.
    pub struct ChanceLoss {
        /// Probability of loss of each packet, independently of others.
        probability: Probability = Probability(0.0),
        /// Additional losses in bursts.
        gilbert_elliott: Option<GilbertElliott>,
        /// Where random losses happen: on the wire behind the queue, or before the queue.
        at: Word<LossAt> = Word(LossAt::Wire),
    }
}

impl Disturbances {
    /// Adds the impairments to a kind of link.
    pub(super) fn of(&self, mut style: Style) -> Style {
        let loss = self.loss.clone().map(|ChanceLoss { probability, gilbert_elliott, at }| Loss {
            probability,
            gilbert_elliott,
            at,
            drops: Vec::new(),
        });
        if let Some(back) = &mut style.link.reverse {
            (back.loss, back.jitter, back.duplication) = (loss.clone(), self.jitter.clone(), self.duplication);
            style.is_alike = true;
        }
        (style.link.loss, style.link.jitter, style.link.duplication) = (loss, self.jitter.clone(), self.duplication);
        style.link.mtu = self.mtu;
        style
    }
}

#[cfg(test)]
mod tests {
    use crate::Scenario;
    use tailback_core::network::{Impairments, LossAt, Network, Port};

    /// A network with one flow, and the paths of warnings.
    fn built(topology: &str, from: &str, to: &str) -> (Network, Vec<String>) {
        let flow = format!("[flows.web]\nfrom = \"{from}\"\nto = \"{to}\"\ntcp = {{preset = \"sack\"}}\n");
        let text = format!("duration = \"1 s\"\n[topology]\n{topology}\n{flow}");
        let scenario = Scenario::from_toml(&text, "").unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        let (network, warnings) = scenario.build_with_warnings().unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        let again = Scenario::from_json(&scenario.to_json(), "").unwrap_or_else(|errors| panic!("{errors}"));
        assert_eq!(again.build().ok().as_ref(), Some(&network));
        (network, warnings.list.into_iter().map(|warning| warning.at).collect())
    }

    const DISTURBED: &str = "queue = {buffer = \"9 packets\"}, loss = {probability = 0.1, at = \"before_queue\"}, duplication = \"1 %\", \
        jitter = {delay = {exponential = \"2 ms\"}, reordering = true}";

    fn disturbed(network: &Network) -> Vec<bool> {
        let of = |port: &Port| {
            let Impairments { loss_at, jitter, duplication, .. } = port.impairments;
            port.random_loss == 0.1 && loss_at == LossAt::BeforeQueue && jitter.is_some() && duplication == 0.01
        };
        network.ports.iter().map(of).collect()
    }

    #[test]
    fn every_link_of_every_generator_is_impaired() {
        let at = "rate = \"10 Mbps\", delay = \"1 ms\"";
        // Not on the reverse link.
        for topology in [
            format!("parking_lot = {{hops = 2, {at}, {DISTURBED}}}"),
            format!("chain = {{rates = [\"1 Mbps\", \"2 Mbps\"], delays = [\"1 ms\", \"2 ms\"], {DISTURBED}}}"),
        ] {
            assert_eq!(disturbed(&built(&topology, "n0", "n2").0), [true, false].repeat(2), "{topology}");
        }
        for (topology, from, to) in [
            (format!("fat_tree = {{k = 2, {at}, {DISTURBED}}}"), "host0", "host1"),
            (format!("leaf_spine = {{leaves = 2, spines = 1, hosts = 1, {at}, {DISTURBED}}}"), "host0", "host1"),
            (format!("torus = {{dimensions = [3], {at}, {DISTURBED}}}"), "host0", "host1"),
            (format!("dragonfly = {{hosts = 1, switches = 2, global_links = 1, {at}, {DISTURBED}}}"), "host0", "host1"),
            (format!("random_regular = {{switches = 4, degree = 3, {at}, {DISTURBED}}}"), "host0", "host1"),
            (format!("waxman = {{routers = 3, {at}, {DISTURBED}}}"), "router0", "router1"),
            (format!("graph = {{links = [{{from = \"a\", to = \"b\"}}], {at}, {DISTURBED}}}"), "a", "b"),
        ] {
            let found = disturbed(&built(&topology, from, to).0);
            assert!(!found.is_empty() && found.iter().all(|&is| is), "{topology}: {found:?}");
        }
    }

    #[test]
    fn a_trace_may_be_the_rate_of_all_links() {
        let rate = "rate = {opportunities = [[1, 1], [3, 2]]}, delay = \"1 ms\", queue = {buffer = \"9 packets\"}";
        for (topology, from, to) in [
            (format!("parking_lot = {{hops = 2, {rate}}}"), "n0", "n2"),
            (format!("fat_tree = {{k = 2, {rate}}}"), "host0", "host1"),
            (format!("waxman = {{routers = 3, {rate}}}"), "router0", "router1"),
        ] {
            let (network, _) = built(&topology, from, to);
            assert!(network.ports.iter().all(|port| port.varying.is_some()), "{topology}");
        }
    }

    #[test]
    fn impairments_without_effect_cause_one_warning() {
        let tree = "fat_tree = {k = 2, rate = \"1 Gbps\", delay = \"1 us\", queue = {buffer = \"9 packets\"}, loss = {}}";
        assert_eq!(built(tree, "host0", "host1").1, ["topology.fat_tree.loss"]);
    }
}
