//! The end of a flow: its transfer, and its parameters in the scenario.

use crate::Transfer;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tailback_host::library::EndSettings;

/// Refuses all parameters.
pub(crate) fn no_parameters(parameters: &str) -> Result<(), String> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Empty {}
    read::<Empty>(parameters).map(|_| ())
}

/// The parameters, which all have defaults. The error about a value begins with its key.
pub(crate) fn parameters<P: DeserializeOwned>(end: &EndSettings) -> Result<P, String> {
    let given: Map<String, Value> = read(&end.parameters)?;
    for (key, value) in &given {
        let alone = Value::Object(Map::from_iter([(key.clone(), value.clone())]));
        // Without the names of Rust's types.
        let worded = |why: &str| {
            why.replace("expected usize", "expected a whole number")
                .replace("expected u64", "expected a whole number")
                .replace("expected u32", "expected a whole number below 2^32")
                .replace("expected u16", "expected a whole number below 2^16")
        };
        let refused =
            |why: String| if why.starts_with("unknown field") { why } else { format!("`{key}` is {value}: {}", worded(&why)) };
        read::<P>(&alone.to_string()).map_err(refused)?;
    }
    read(&end.parameters)
}

/// Refuses 0.
pub(crate) fn positive(key: &str, value: u64) -> Result<(), String> {
    if value == 0 { Err(format!("`{key}` is 0; expected at least 1")) } else { Ok(()) }
}

fn read<P: DeserializeOwned>(parameters: &str) -> Result<P, String> {
    serde_json::from_str(parameters).map_err(|error| {
        let text = error.to_string();
        // Without the column in the JSON, which the user has not written.
        text.rsplit_once(" at line ").map_or(text.clone(), |(message, _)| message.into())
    })
}

/// The transfer of a sender; `None` for a receiver.
pub(crate) fn transfer(end: &EndSettings) -> Option<Transfer> {
    let EndSettings { local, remote, start, stop, size, .. } = *end;
    end.is_sender.then_some(Transfer { local, remote, start, stop, size })
}
