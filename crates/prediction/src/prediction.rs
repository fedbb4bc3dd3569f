//! Predicted quantities, the applied models, and the parts that no model covers.

use crate::traffic::FlowGroup;
use tailback_core::network::{Network, PortId};

/// Predicted quantities of a run. Values that no model predicts are NaN.
#[derive(Debug)]
pub struct Prediction {
    /// In the order of the network's flows.
    pub flows: Vec<FlowPrediction>,
    /// In the order of the network's ports.
    pub queues: Vec<QueuePrediction>,
    pub models: Vec<AppliedModel>,
    pub unmodelled: Vec<Unmodelled>,
}

#[derive(Clone, Copy, Debug)]
pub struct FlowPrediction {
    /// Payload in bit/s.
    pub goodput_bps: f64,
    /// Probability that a packet is lost.
    pub loss_rate: f64,
    pub window: Option<Window>,
}

/// Congestion window of a flow in segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Window {
    Constant(f64),
    /// Grows from half of this peak to the peak.
    Sawtooth(f64),
    Mean(f64),
}

#[derive(Clone, Copy, Debug)]
pub struct QueuePrediction {
    pub loss_rate: f64,
    pub utilisation: f64,
    /// Packets that occupy the buffer.
    pub mean_queue_units: f64,
    pub mean_wait_s: f64,
}

/// A model, and the parts of the scenario to which it was applied.
#[derive(Debug)]
pub struct AppliedModel {
    pub name: String,
    pub source: &'static str,
    pub equation: &'static str,
    /// Assumptions of the model itself.
    pub assumes: &'static [&'static str],
    /// Paths of the links and groups that it covers: `links.bottleneck`, `flows.web`.
    pub at: Vec<String>,
    /// Simplifications in this case.
    pub simplifies: Vec<String>,
    /// Known or unknown errors of the model in this case.
    pub warnings: Vec<String>,
}

/// A part of the scenario that no model covers.
#[derive(Debug, PartialEq)]
pub struct Unmodelled {
    /// Path in the scenario.
    pub at: String,
    /// The violated assumption.
    pub why: String,
}

impl AppliedModel {
    /// A model with the equation and the assumptions of a closed form.
    pub(crate) fn of(closed_form: &str, name: impl Into<String>, source: &'static str, at: Vec<String>) -> AppliedModel {
        let model = tailback_models::named(closed_form);
        AppliedModel {
            name: name.into(),
            source,
            equation: model.map_or("", |model| model.equation),
            assumes: model.map_or(&[], |model| model.assumes),
            at,
            simplifies: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

impl Prediction {
    pub(crate) fn unknown(network: &Network) -> Prediction {
        let flow = FlowPrediction { goodput_bps: f64::NAN, loss_rate: f64::NAN, window: None };
        let queue =
            QueuePrediction { loss_rate: f64::NAN, utilisation: f64::NAN, mean_queue_units: f64::NAN, mean_wait_s: f64::NAN };
        Prediction {
            flows: vec![flow; network.flows.len()],
            queues: vec![queue; network.ports.len()],
            models: Vec::new(),
            unmodelled: Vec::new(),
        }
    }

    pub(crate) fn of(&mut self, group: &FlowGroup) -> &mut [FlowPrediction] {
        &mut self.flows[group.first..group.first + group.count()]
    }

    pub(crate) fn queue(&mut self, port: PortId) -> &mut QueuePrediction {
        &mut self.queues[port]
    }

    /// Lists a part once, although several models may exclude it.
    pub(crate) fn exclude(&mut self, at: impl Into<String>, why: impl Into<String>) {
        let part = Unmodelled { at: at.into(), why: why.into() };
        if !self.unmodelled.contains(&part) {
            self.unmodelled.push(part);
        }
    }
}
