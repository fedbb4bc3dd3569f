//! Size of a transfer.

use super::Distribution;
use crate::decode::{Decode, Decoder};
use crate::quantity::Size;
use crate::tree::Node;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use std::borrow::Cow;

/// A size above 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Transfer(pub(crate) Size);

impl Distribution<Size> {
    /// The largest value or, without bounds, the median, for a message; `None` if that is at most `max`. Draws beyond `max` are repeated, so that
    /// the seed does not decide whether a scenario is valid.
    pub(crate) fn beyond(&self, max: u64) -> Option<String> {
        let (bytes, text) = if self.has_bounds() { (self.bounds()[1], "up to") } else { (self.median(), "a median of") };
        (bytes > max).then(|| format!("{text} {bytes} B"))
    }
}

impl Decode for Transfer {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Transfer> {
        let size = Size::decode(node, decoder)?;
        if size == Size::default() {
            return decoder.invalid_value(node, "is zero");
        }
        Some(Transfer(size))
    }

    fn expected() -> String {
        "at least 1 B".into()
    }
}

impl JsonSchema for Transfer {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Transfer".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<Size>()
    }
}
