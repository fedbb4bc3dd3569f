//! The end of a flow: its transfer, and its parameters in the scenario.

use crate::Transfer;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tailback_host::library::EndSettings;

/// Refuses all parameters.
pub(crate) fn no_parameters(parameters: &str) -> Result<(), String> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Empty {}
    read::<Empty>(parameters).map(|_| ())
}

pub(crate) fn parameters<P: DeserializeOwned>(end: &EndSettings) -> Result<P, String> {
    read(&end.parameters)
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
