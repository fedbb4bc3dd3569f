//! Closed forms: what theory predicts for the quantities that the simulator measures.
//!
//! Start in [`queues`] for loss and waiting at one port, in [`trunk`] for the loss of many links that share a few wavelengths, in
//! [`tcp`] for what one transport can carry, in [`delay_based`] for FAST and Vegas, in [`prices`] for prices that marks carry, in [`sizing`] for
//! how much buffer a bottleneck needs. A model is a pure function of checked parameters ([`parameter`]), which says once what it is ([`model`]).
//! Queues are dimensionless: load is offered work over capacity, and times are in mean service times, so that one number serves cells and
//! packets alike. Transcendental functions come from `libm`, so that every platform computes the same bits.

pub mod delay_based;
pub mod limits;
pub mod model;
pub mod parameter;
pub mod prices;
pub mod queues;
mod root;
pub mod sizing;
pub mod tcp;
pub mod trunk;

pub use model::Model;
pub use parameter::ParameterError;

/// All models, by what they are of.
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

/// The model of that name.
pub fn named(name: &str) -> Option<&'static Model> {
    families().into_iter().flat_map(|(_, models)| models).find(|model| model.name == name)
}

/// A fingerprint of the sources that these models were built from.
pub const SOURCES: &str = env!("TAILBACK_SOURCES");

#[cfg(test)]
mod tests {
    use super::*;
    use model::Kind;

    #[test]
    fn every_model_says_what_it_is_and_every_parameter_what_it_means() {
        let mut names = std::collections::BTreeSet::new();
        for model in families().into_iter().flat_map(|(_, models)| models) {
            assert!(names.insert(model.name), "{} stands twice", model.name);
            for said in [model.help[0], model.equation, model.source] {
                assert!(!said.is_empty(), "{}", model.name);
            }
            for parameter in (model.parameters)() {
                assert!(!parameter.help.is_empty(), "{} of {}", parameter.name, model.name);
                if let Kind::Choice { words, .. } = parameter.kind {
                    assert!(words.iter().all(|word| !word.help.is_empty()), "{} of {}", parameter.name, model.name);
                }
            }
        }
    }
}
