//! The pages of presets and tables, and the published schema, are generated. `TAILBACK_ACCEPT=1` rewrites them for review.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

fn is_up_to_date(name: &str, wanted: &str) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    if std::env::var_os("TAILBACK_ACCEPT").is_some() {
        std::fs::write(&page, wanted).unwrap();
    }
    assert_eq!(std::fs::read_to_string(page).unwrap_or_default(), wanted);
}

#[test]
fn the_page_of_presets_is_up_to_date() {
    is_up_to_date("reference/presets.md", &tailback_scenario::presets_markdown());
}

#[test]
fn the_page_of_tables_is_up_to_date() {
    is_up_to_date("reference/tables.md", &tailback_core::record::tables_markdown());
}

#[test]
fn the_published_schema_is_up_to_date() {
    let schema = tailback_scenario::json_schema();
    let version = schema["$id"].as_str().and_then(|id| id.rsplit(':').next()).unwrap();
    let text = serde_json::to_string_pretty(&schema).unwrap();
    is_up_to_date(&format!("site/schema/{version}/scenario.json"), &format!("{text}\n"));
}
