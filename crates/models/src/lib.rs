//! Closed forms: theoretical predictions of the quantities that the simulator measures.
//!
//! Start in [`queues`] for loss and waiting time at one port, [`trunk`] for the loss of many links that share a few wavelengths,
//! [`tcp`] for the rate of one flow, [`delay_based`] for FAST and Vegas, [`prices`] for congestion prices carried by marks, and
//! [`sizing`] for buffer sizing rules. A model is a pure function of checked parameters ([`parameter`]) that declares its
//! description once ([`model`]). Queues are dimensionless: load is offered work over capacity, and times are in mean service
//! times, so that one number applies to cells and packets alike. Transcendental functions come from `libm`, so that every
//! platform computes the same bits.
//! packets alike. Transcendental functions come from `libm`, so that every platform computes the same bits.

pub mod delay_based;
pub mod error;
pub mod limits;
pub mod model;
pub mod parameter;
pub mod prices;
pub mod queues;
mod root;
pub mod sizing;
pub mod tcp;
pub mod trunk;

pub use error::ParameterError;
pub use model::Model;

/// All models, by family.
pub fn families() -> [(&'static str, Vec<&'static Model>); 6] {
    [
        ("queues", queues::MODELS),
        ("trunk", trunk::MODELS),
        ("sizing", sizing::MODELS),
        ("tcp", tcp::MODELS),
        ("delay_based", delay_based::MODELS),
        ("prices", prices::MODELS),
    ]
    .map(|(family, files)| (family, files.iter().copied().flatten().collect()))
}

/// The model with this name.
pub fn named(name: &str) -> Option<&'static Model> {
    families().into_iter().flat_map(|(_, models)| models).find(|model| model.name == name)
}

/// A fingerprint of the sources from which these models were built.
pub const SOURCES: &str = env!("TAILBACK_SOURCES");

#[cfg(test)]
mod tests {
    use super::*;
    use model::ParameterKind;

    #[test]
    fn every_model_and_every_parameter_has_a_description() {
        let mut names = std::collections::BTreeSet::new();
        for model in families().into_iter().flat_map(|(_, models)| models) {
            assert!(names.insert(model.name), "{} is listed twice", model.name);
            for text in [model.help[0], model.equation, model.source] {
                assert!(!text.is_empty(), "{}", model.name);
            }
            for parameter in (model.parameters)() {
                assert!(!parameter.help.is_empty(), "{} of {}", parameter.name, model.name);
                if let ParameterKind::Keyword { words, .. } = parameter.kind {
                    assert!(words.iter().all(|word| !word.help.is_empty()), "{} of {}", parameter.name, model.name);
                }
            }
        }
    }
}
