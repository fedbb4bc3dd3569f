//! Predictions without a simulation: the results of `tailback predict`, `tailback size-buffer` and the lab.
//!
//! [`predict`] selects the models whose assumptions hold for each part of a network and lists the other parts with the violated
//! assumption. [`traffic`] has the properties of flows and ports on which this depends. `datagrams.rs` predicts queues in
//! equilibrium, `trunk.rs` inputs of a switch that share a trunk, and `tcp.rs` divides TCP flows among `windows.rs`,
//! `random_loss.rs`, `saturated.rs` and `delay_based.rs`. [`sizing`] compares buffer sizing rules, and [`trunk_map`] has the
//! measured errors of the models of a trunk. The models themselves are in `tailback_models`.

mod bundle;
mod datagrams;
mod delay_based;
mod number_text;
mod prediction;
mod random_loss;
mod round_trips;
mod saturated;
pub mod sizing;
mod starts;
mod tcp;
mod traffic;
mod trunk;
pub mod trunk_map;
mod windows;

pub use prediction::{AppliedModel, FlowPrediction, Prediction, QueuePrediction, Unmodelled, Window};
pub use round_trips::RoundTrips;

use tailback_core::network::Network;
use tailback_core::primitives::units::Time;
use traffic::Traffic;

/// A fingerprint of the sources from which this crate was built.
pub const SOURCES: &str = env!("TAILBACK_SOURCES");

/// Predicts the results of a run by the models whose assumptions hold.
pub fn predict(network: &Network) -> Prediction {
    let traffic = Traffic::of(network);
    let mut found = Prediction::unknown(network);
    if !network.changes.is_empty() {
        found.exclude("timeline", "models describe a steady state, but the timeline changes it during the run");
        return found;
    }
    if let Some(never) =
        traffic.groups.iter().find(|group| group.flows.iter().any(|flow| flow.start >= Time::ZERO + network.duration))
    {
        found.exclude(format!("{}.start", never.at()), "some of its flows start after the end of the run");
        return found;
    }
    datagrams::predict(&traffic, &mut found);
    trunk::predict(&traffic, &mut found);
    tcp::predict(&traffic, &mut found);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailback_scenario::Scenario;

    fn of(queue: &str, flows: &str) -> Result<Prediction, String> {
        let toml = format!(
            "duration = \"9 s\"\n[topology]\ndumbbell = {{rate = \"8 Mbps\", delay = \"1 ms\", queue = {{{queue}}}}}\n[flows.a]\nfrom = \"left\"\nto = \"right\"\npropagation_rtt = \"100 ms\"\n{flows}\n"
        );
        let network = Scenario::from_toml(&toml, "").and_then(|scenario| scenario.build()).map_err(|error| error.to_string())?;
        Ok(predict(&network))
    }

    #[test]
    fn one_flow_with_half_a_product_of_buffer_nearly_fills_its_link() -> Result<(), String> {
        // 1000 B at 8 Mbit/s take 1 ms, an acknowledgement of 40 B 0.04 ms: in 101.04 ms there are 101.04 packets.
        let tcp = "tcp = {preset = \"sack\", mss = \"960 B\", header = \"40 B\", receiver_window = 100000}";
        let found = of("buffer = \"50 packets\"", tcp)?;
        let Some(Window::Sawtooth(peak)) = found.flows[0].window else { return Err(format!("{found:?}")) };
        assert!((peak - 151.04).abs() < 1e-6, "{peak}");
        // Half of a buffer of 100 packets fills 27/28 of the link.
        let b: f64 = 50.0 / 101.04;
        let part = 0.75 * (1.0 + b) * (1.0 + b) / (1.0 + b + b * b);
        assert!((part - 27.0 / 28.0).abs() < 1e-3);
        let goodput = found.flows[0].goodput_bps;
        assert!((goodput / (8e6 * 0.96 * part) - 1.0).abs() < 1e-9, "{goodput}");
        Ok(())
    }

    #[test]
    fn two_flows_of_fast_keep_two_alphas() -> Result<(), String> {
        let tcp = "count = 2\ntcp = {preset = \"sack\", controller = {kind = \"fast\", alpha = 20}}";
        assert_eq!(of("buffer = \"500 packets\"", tcp)?.queues[0].mean_queue_units, 40.0);
        Ok(())
    }

    #[test]
    fn many_flows_without_a_buffer_have_no_model() -> Result<(), String> {
        let found = of("buffer = \"0 packets\"", "count = 100\ntcp = {preset = \"sack\"}")?;
        assert!(found.models.is_empty() && found.flows[0].goodput_bps.is_nan());
        assert_eq!(found.unmodelled[0].why, "without a buffer the model predicts no throughput");
        Ok(())
    }

    #[test]
    fn a_group_without_a_model_leaves_no_numbers_in_groups_that_share_its_links() -> Result<(), String> {
        let queue = "buffer = \"50 packets\"}, loss = {probability = 0.01";
        let tcp = "tcp = {preset = \"sack\"}\n[flows.b]\nfrom = \"left\"\nto = \"right\"\ntcp = {preset = \"linux/bbr\"}";
        let found = of(queue, tcp)?;
        assert!(found.models.is_empty() && found.flows.iter().all(|flow| flow.goodput_bps.is_nan()), "{found:?}");
        Ok(())
    }

    #[test]
    fn cubic_has_models_for_few_flows_and_for_random_loss() -> Result<(), String> {
        let tcp = "tcp = {preset = \"cubic\", mss = \"960 B\", header = \"40 B\", receiver_window = 100000}";
        // A product of 101.04 packets: cubic growth of 0.967 in 4.4 s, and Reno-friendly growth of (1 - 0.49) 1.1^2 / (0.46 + 0.21) in
        // 6.5 s, which is faster than the curve after fast convergence.
        let found = of("buffer = \"10 packets\"", tcp)?;
        assert!((found.queues[0].utilisation - 0.9392).abs() < 0.001, "{found:?}");
        assert_eq!(
            of("buffer = \"10 packets\"", &format!("count = 30\n{tcp}"))?.queues[0].utilisation,
            found.queues[0].utilisation
        );
        assert!(of("buffer = \"10 packets\"", &format!("count = 100\n{tcp}"))?.queues[0].utilisation.is_nan());
        // At a loss of 1 % the rate of RFC 9438 is Reno's, sqrt(1.5 / p) packets per RTT, less the time of recoveries and timeouts.
        let lossy = of("buffer = \"500 packets\"}, loss = {probability = 0.01", tcp)?;
        assert!(
            (lossy.flows[0].goodput_bps / (8.0 * 960.0 * (1.5_f64 / 0.01).sqrt() / 0.101_04 * 0.99) - 1.0).abs() < 0.1,
            "{lossy:?}"
        );
        assert!(of("buffer = \"500 packets\"}, loss = {probability = 0.011", tcp)?.models.is_empty());
        let counted = "tcp = {preset = \"cubic\", ack_counting = \"acknowledgements\"}";
        let found = of("buffer = \"500 packets\"}, loss = {probability = 0.01", counted)?;
        assert_eq!(found.unmodelled[0].at, "flows.a.tcp.ack_counting");
        Ok(())
    }

    #[test]
    fn windows_that_fit_link_and_buffer_limit_flows_whatever_the_buffer() -> Result<(), String> {
        // Two windows of 30 packets of 1000 B in 100 ms are 4.8 of 8 Mbit/s; 100 packets are in transit.
        let windows =
            "count = 2\ntcp = {preset = \"sack\", mss = \"960 B\", header = \"40 B\", delayed_ack = false, receiver_window = 30}";
        for buffer in ["20 packets", "59 packets", "60 packets"] {
            let found = of(&format!("buffer = \"{buffer}\""), windows)?;
            assert!((found.queues[0].utilisation - 0.6 / 1.0104).abs() < 1e-6, "{buffer}: {found:?}");
            assert!(found.models[0].warnings.is_empty());
        }
        let warned = of("buffer = \"10 packets\"", windows)?;
        assert!(warned.models[0].warnings[0].contains("bursts of windows of 60 packets may overflow a buffer of 10 packets"));
        Ok(())
    }

    #[test]
    fn a_buffer_of_one_packet_is_warned_about() -> Result<(), String> {
        let found = of("buffer = \"1 packets\"", "tcp = {preset = \"sack\"}")?;
        assert!(found.models[0].warnings[0].ends_with("bursts overflow it, which the model neglects"), "{found:?}");
        assert!(of("buffer = \"100 packets\"", "tcp = {preset = \"sack\"}")?.models[0].warnings.is_empty());
        Ok(())
    }

    /// docs/evidence/theory.md, "Drawn scenarios".
    #[test]
    fn small_buffers_are_warned_about_where_bursts_overflow_them() -> Result<(), String> {
        let few = |preset: &str| format!("count = 15\ntcp = {{preset = \"{preset}\", mss = \"2960 B\"}}");
        let one = |tcp: &str| format!("tcp = {{{tcp}}}");
        let warns = |buffer: u64, flows: &str| -> Result<bool, String> {
            Ok(of(&format!("buffer = \"{buffer} packets\""), flows)?.models[0].warnings.iter().any(|text| text.contains("burst")))
        };
        for (buffer, flows, expected) in [
            (2, few("linux/cubic"), true),
            (2, few("cubic"), false),
            (3, few("linux/cubic"), false),
            (2, few("linux/cubic").replace("15", "40"), false),
            (2, few("linux/cubic").replace("15", "16"), true),
            // 67 packets are in flight.
            (1, one("preset = \"sack\", pacing = true"), false),
            (1, one("preset = \"sack\""), true),
            (2, one("preset = \"cubic\""), true),
            (2, one("preset = \"cubic\", mss = \"2960 B\""), false),
            (2, one("preset = \"newreno\", receiver_window = 30"), false),
            (2, one("preset = \"linux/reno\", receiver_window = 30"), true),
            (2, one("preset = \"linux/reno\", receiver_window = 10"), false),
        ] {
            assert_eq!(warns(buffer, &flows)?, expected, "{buffer} {flows}");
        }
        Ok(())
    }

    #[test]
    fn long_timeouts_are_warned_about_with_sack_only() -> Result<(), String> {
        let warns = |preset: &str| -> Result<bool, String> {
            let flows = format!("count = 10\ntcp = {{preset = \"{preset}\", timer = {{min_rto = \"9 s\"}}}}");
            let found = of("buffer = \"500 packets\"}, loss = {probability = 0.04", &flows)?;
            Ok(found.models[0].warnings.iter().any(|text| text.contains("waits for timeouts")))
        };
        assert!(warns("sack")? && !warns("newreno")?);
        Ok(())
    }

    #[test]
    fn groups_that_share_a_drop_tail_queue_have_a_utilisation_and_no_shares() -> Result<(), String> {
        let other = "tcp = {preset = \"sack\"}\n[flows.b]\nfrom = \"left\"\nto = \"right\"\npropagation_rtt = \"50 ms\"\ntcp = {preset = \"sack\"}";
        let found = of("buffer = \"50 packets\"", other)?;
        assert!(found.queues[0].utilisation > 0.9 && found.flows.iter().all(|flow| flow.goodput_bps.is_nan()), "{found:?}");
        assert!(
            found.unmodelled.iter().all(|part| part.why.starts_with("how groups share a drop-tail queue depends on the phases"))
        );
        Ok(())
    }

    #[test]
    fn an_unlimited_buffer_loses_nothing() -> Result<(), String> {
        let source = "source = {kind = \"poisson\", rate = \"4 Mbps\", packet_size = {exponential = \"1000 B\"}}";
        let found = of("buffer = \"unlimited\"", source)?;
        assert_eq!((found.queues[0].loss_rate, found.flows[0].loss_rate), (0.0, 0.0));
        Ok(())
    }

    #[test]
    fn every_applied_model_has_an_equation() {
        let closed_forms = [
            "appenzeller_utilisation",
            "closed_loop",
            "cubic_rate",
            "cubic_utilisation",
            "delay_equilibrium",
            "erlang_b",
            "exact_trunk_loss",
            "fast_arrivals",
            "md1_mean_wait",
            "md1k",
            "mmck",
            "single_flow_utilisation",
            "synchronised_utilisation",
            "trunk_loss",
            "vegas_arrivals",
        ];
        for name in closed_forms {
            assert!(!AppliedModel::of(name, name, "", Vec::new()).equation.is_empty(), "{name}");
        }
    }
}
