//! Reno under random loss, on links that are not near their capacity.

use super::bottleneck::{Greedy, capacity_bps};
use super::{Line, ObservedEntities, Panel, Theory, number};
use tailback_core::congestion::ControllerSpec;
use tailback_core::network::Network;
use tailback_models::limits::QUIET_LOAD;

/// Up to this loss the square-root law may neglect timeouts (`mathis_rate`).
const LIGHT_LOSS: f64 = 0.01;
/// Numerical tolerance for a loss probability of 1.
const ROUNDING: f64 = 1e-9;

pub(super) fn lines(network: &Network, observed: &ObservedEntities, flows: &[Greedy]) -> Result<Vec<Line>, String> {
    let mut loads = vec![0.0; network.ports.len()];
    let mut asked = Vec::new();
    for greedy in flows {
        if !matches!(greedy.law, ControllerSpec::Reno(_)) {
            return Err(format!("the controller is {}, but the model requires Reno", greedy.law.name().unwrap_or("user")));
        }
        let path = &network.paths[greedy.flow.forward as usize];
        let kept: f64 = path.iter().map(|&port| 1.0 - network.ports[port as usize].random_loss).product();
        if kept == 0.0 || kept == 1.0 {
            return Err(
                "a flow without random loss, or with a loss of 100 %, shares links with others, which no model covers".into()
            );
        }
        let known = [
            ("mss_bytes", greedy.tcp.mss.0 as f64),
            ("rtt_s", greedy.rtt_s),
            ("loss", 1.0 - kept),
            ("rto_s", greedy.tcp.timer.min_rto.seconds().max(greedy.rtt_s)),
            ("receiver_window", greedy.tcp.receiver_window.0.into()),
            ("segments_per_ack", greedy.segments_per_increase()),
        ];
        let on_wire = number("padhye_rate", 0, &known)? / greedy.payload();
        path.iter().for_each(|&port| loads[port as usize] += on_wire / capacity_bps(&network.ports[port as usize]));
        asked.push(known);
    }
    if let Some(busy) = (0..loads.len()).find(|&port| loads[port] > QUIET_LOAD) {
        let (name, percent) = (&network.ports[busy].name, 100.0 * loads[busy].min(99.0));
        return Err(format!(
            "links.{name}: with random losses its utilisation would be {percent:.3} %: no model covers the effect of its queue"
        ));
    }
    let mut found = Vec::new();
    for &flow in &observed.flows {
        let known = &asked[flow as usize];
        let theory = Theory::of("padhye_goodput", &["the first timeout is the larger of the minimum and a round trip"])
            .ok_or("a model is missing")?;
        let value = number("padhye_goodput", 0, known)?;
        found.push(Line { panel: Panel::Goodput, of: flow, value, label: "mean goodput", theory });
        let [(_, mss), (_, rtt_s), (_, loss), ..] = *known;
        let window = number("mathis_rate", 0, known)? * rtt_s / (8.0 * mss);
        if loss <= LIGHT_LOSS * (1.0 + ROUNDING) && window < known[4].1 {
            let theory = Theory {
                name: "mathis_rate",
                equation: "sqrt(3 / (2 b p)) segments".into(),
                ..Theory::of("mathis_rate", &[]).ok_or("a model is missing")?
            };
            found.push(Line { panel: Panel::Cwnd, of: flow, value: window, label: "mean window", theory });
        }
    }
    Ok(found)
}
