//! Models by their names, asked with numbers by theirs.

use tailback_models::model::{Given, Model, Patience, Stopped};

/// What a model answers, its fields in their order; or why it does not, for people.
pub(super) fn evaluate(model: &Model, known: impl Fn(&str) -> Option<f64>) -> Result<Vec<f64>, String> {
    let number = |name: &str, default: Option<&str>| known(name).or_else(|| default?.parse().ok());
    let numbers: Vec<Option<f64>> =
        (model.parameters)().iter().map(|parameter| number(parameter.name, parameter.default)).collect();
    let mut answer = Vec::new();
    match (model.evaluate)(&mut Given::new(&numbers, &[], Patience(|| true)), &mut answer) {
        Ok(()) => Ok(answer),
        Err(Stopped::Parameter(error)) => Err(error.to_string()),
        Err(Stopped::Interrupted) => Err("interrupted".to_string()),
    }
}
