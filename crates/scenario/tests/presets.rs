//! The page of presets is what the presets are. `TAILBACK_ACCEPT=1` writes it anew, to be reviewed.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

#[test]
fn the_page_of_presets_is_up_to_date() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/presets.md");
    let wanted = tailback_scenario::presets_markdown();
    if std::env::var_os("TAILBACK_ACCEPT").is_some() {
        std::fs::write(&page, &wanted).unwrap();
    }
    assert_eq!(std::fs::read_to_string(page).unwrap_or_default(), wanted);
}
