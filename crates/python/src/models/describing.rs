//! Descriptions of the models, from which their Python functions and tables are generated.

use pyo3::prelude::*;
use serde_json::{Value, json};
use tailback_models::model::{Field, KeywordInfo, Model, OutputKind, Parameter, ParameterKind, prose};

/// All models by family, as JSON.
#[pyfunction]
pub fn models() -> String {
    let families = tailback_models::families().map(|(family, models)| (family.to_string(), described(&models)));
    Value::Object(families.into_iter().collect()).to_string()
}

fn described(models: &[&Model]) -> Value {
    models.iter().copied().map(model).collect()
}

fn model(model: &Model) -> Value {
    let answer = (model.answer)();
    json!({
        "name": model.name,
        "help": model.help.iter().map(|line| line.trim()).collect::<Vec<_>>(),
        "quantity": model.quantity,
        "equation": model.equation,
        "source": model.source,
        "assumes": model.assumes,
        "idea": model.idea,
        "refuses": model.refuses,
        "returns": model.returns,
        "example": model.example,
        "parameters": (model.parameters)().iter().map(parameter).collect::<Value>(),
        "answer": {
            "name": answer.name,
            "help": prose(answer.help),
            "fields": answer.fields.iter().map(field).collect::<Value>(),
        },
    })
}

fn parameter(parameter: &Parameter) -> Value {
    let (kind, more) = match &parameter.kind {
        ParameterKind::Number { whole: true, range } => ("whole", json!(range)),
        ParameterKind::Number { whole: false, range } => ("number", json!(range)),
        ParameterKind::Keyword { of, words } => (*of, words.iter().map(word).collect()),
    };
    json!({
        "name": parameter.name,
        "help": parameter.help,
        "kind": kind,
        "of": more,
        "default": parameter.default,
        "named": parameter.named,
    })
}

fn word(word: &KeywordInfo) -> Value {
    json!({"word": word.word, "title": word.title, "help": word.help, "source": word.source})
}

fn field(field: &Field) -> Value {
    let kind = match field.figure {
        OutputKind::Number => "number",
        OutputKind::Integer => "whole",
        OutputKind::Boolean => "truth",
    };
    json!({"name": field.name, "help": prose(field.help), "kind": kind, "optional": field.optional})
}
