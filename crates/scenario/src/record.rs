//! Tables with named keys.
//!
//! The `record!` macro declares a struct with its decoding, serialisation and JSON Schema, so that keys, defaults and descriptions of a table
//! are defined once. `words!` does the same for enums of words. Tables that are selected by a word are in `member.rs`.

use crate::decode::{Decode, Decoder, Table};
use crate::short_forms;
use crate::tree::Node;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

/// A type that is decoded from keys of a table, which may have other keys.
pub(crate) trait Record: Sized + Default {
    fn take(table: &mut Table, decoder: &mut Decoder) -> Self;

    /// The valid tables: one for a record, one per word for a tagged enum.
    fn shapes(generator: &mut SchemaGenerator) -> Vec<Shape>;
}

/// Decodes a table of named keys, and reports unknown ones.
pub(crate) fn decode<R: Record + Decode>(node: &Node, decoder: &mut Decoder) -> Option<R> {
    let short = short_forms::table(&R::schema_name(), node);
    let entries = match (node, &short) {
        (Node::Table(entries), _) | (_, Some(entries)) => entries,
        _ => {
            decoder.not_a_table(node, R::expected());
            return None;
        }
    };
    let mut table = Table::new(entries);
    let record = R::take(&mut table, decoder);
    table.finish(decoder);
    Some(record)
}

/// The schema of a type, and of its short forms if it has any.
pub(crate) fn schema_of<R: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let table = generator.subschema_for::<R>();
    let Some((name, short)) = short_forms::schema(&R::schema_name()) else { return table };
    let short = defined(name, short, generator);
    schemars::json_schema!({"anyOf": [table, short]})
}

/// One valid table, for the JSON Schema.
#[derive(Default)]
pub(crate) struct Shape {
    properties: Map<String, Value>,
    required: Vec<String>,
}

impl Shape {
    /// Adds a key with its description, its default unless it is required, and an example if one is declared.
    pub fn key<T: Decode + serde::Serialize>(
        &mut self,
        generator: &mut SchemaGenerator,
        name: &str,
        lines: &[&str],
        default: Option<T>,
        first: Option<Value>,
    ) {
        let default = default.or_else(T::absent).map(|value| serde_json::to_value(value).unwrap_or_default());
        self.property(name, T::schema(generator), &prose(lines), default, first);
    }

    /// Adds a key with any schema. A default of null means an optional key without a default.
    pub fn property(&mut self, name: &str, mut schema: Schema, description: &str, default: Option<Value>, first: Option<Value>) {
        schema.insert("description".into(), description.into());
        if let Some(first) = first {
            schema.insert("examples".into(), json!([first]));
        }
        match default {
            Some(Value::Null) => {}
            Some(value) => {
                schema.insert("default".into(), value);
            }
            None => self.required.push(name.into()),
        }
        self.properties.insert(name.into(), schema.to_value());
    }

    /// Adds the word that selects the table. It is required unless it is the `default`.
    pub fn tag(mut self, name: &str, word: &str, lines: &[&str], default: Option<&str>) -> Shape {
        self.properties.insert(name.into(), json!({"const": word, "description": prose(lines)}));
        if default != Some(word) {
            self.required.push(name.into());
        }
        self
    }

    /// Adds the source of the member that the word `name` selects.
    pub fn source(mut self, name: &str, source: &str) -> Shape {
        if let Some(property) = self.properties.get_mut(name) {
            property["$comment"] = source.into();
        }
        self
    }

    fn join(&self, other: &Shape) -> Shape {
        Shape {
            properties: self
                .properties
                .iter()
                .chain(&other.properties)
                .map(|(key, shape)| (key.clone(), shape.clone()))
                .collect(),
            required: self.required.iter().chain(&other.required).cloned().collect(),
        }
    }

    fn schema(self) -> Value {
        json!({"type": "object", "properties": self.properties, "required": self.required, "additionalProperties": false})
    }
}

/// The valid tables with the keys of a part added to each shape.
pub(crate) fn joined<P: Record>(shapes: Vec<Shape>, generator: &mut SchemaGenerator) -> Vec<Shape> {
    let parts = P::shapes(generator);
    shapes.iter().flat_map(|shape| parts.iter().map(move |part| part.join(shape))).collect()
}

/// The schema of a record.
pub(crate) fn record_schema<R: Record>(lines: &[&str], generator: &mut SchemaGenerator) -> Schema {
    let mut schemas: Vec<Value> = R::shapes(generator).into_iter().map(Shape::schema).collect();
    let mut schema = match schemas.len() {
        1 => schemas.remove(0),
        _ => json!({"oneOf": schemas}),
    };
    schema["description"] = prose(lines).into();
    schema.try_into().unwrap_or_default()
}

/// A reference to a named schema.
pub(crate) fn defined(name: &str, schema: Value, generator: &mut SchemaGenerator) -> Schema {
    generator.definitions_mut().insert(name.into(), schema);
    schemars::json_schema!({"$ref": format!("#/$defs/{name}")})
}

/// Comment lines as a description.
pub(crate) fn prose(lines: &[&str]) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}

/// Declares a struct with its decoding, serialisation and schema. `= default` or `Option` makes a key optional. A value after a semicolon is
/// an example for editors. The keys of a part after `with` belong to the same table.
macro_rules! record {
    (
        $(#[doc = $doc:literal])*
        pub struct $name:ident {
            $($(#[doc = $field_doc:literal])* $field:ident: $type:ty $(= $default:expr)? $(; $first:expr)?,)*
        }
        $(with $(#[doc = $part_doc:literal])* $part:ident: $part_type:ty)?
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
        pub struct $name {
            $(
                $(#[doc = $field_doc])*
                #[serde(skip_serializing_if = "crate::decode::Decode::is_absent")]
                pub $field: $type,
            )*
            $($(#[doc = $part_doc])* #[serde(flatten)] pub $part: $part_type,)?
        }

        impl crate::record::Record for $name {
            #[allow(unused_variables, reason = "a record without keys decodes nothing")]
            fn take(table: &mut crate::decode::Table, decoder: &mut crate::decode::Decoder) -> $name {
                $name {
                    $($field: table.field(stringify!($field), crate::record::default_of!($($default)?), decoder),)*
                    $($part: crate::record::Record::take(table, decoder),)?
                }
            }

            #[allow(unused_variables, unused_mut, reason = "a record without keys has an empty shape")]
            fn shapes(generator: &mut schemars::SchemaGenerator) -> Vec<crate::record::Shape> {
                let mut shape = crate::record::Shape::default();
                $(
                    let default: Option<$type> = crate::record::default_of!($($default)?);
                    let first = crate::record::default_of!($(serde_json::json!($first))?);
                    shape.key(generator, stringify!($field), &[$($field_doc),*], default, first);
                )*
                let shapes = vec![shape];
                $(let shapes = crate::record::joined::<$part_type>(shapes, generator);)?
                shapes
            }
        }

        crate::record::table!($name, $($doc),*);
    };
}

/// Decoding and schema of a type that is a table of its own.
macro_rules! table {
    ($name:ident, $($doc:literal),*) => {
        impl crate::decode::Decode for $name {
            fn decode(node: &crate::tree::Node, decoder: &mut crate::decode::Decoder) -> Option<$name> {
                crate::record::decode(node, decoder)
            }

            fn expected() -> String {
                use crate::record::Record as _;
                let shapes = $name::shapes(&mut schemars::SchemaGenerator::default());
                crate::record::keys(&shapes)
            }

            fn schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                crate::record::schema_of::<$name>(generator)
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                crate::record::record_schema::<$name>(&[$($doc),*], generator)
            }
        }
    };
}

/// Declares an enum of words. The first is the default of keys without one.
macro_rules! words {
    (
        $(#[doc = $doc:literal])*
        pub enum $name:ident ($noun:literal) {
            $($(#[doc = $word_doc:literal])* $variant:ident = $word:literal,)+
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
        pub enum $name {
            $($(#[doc = $word_doc])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            pub const WORDS: &'static [&'static str] = &[$($word),+];
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// The word in a scenario.
            pub fn word(self) -> &'static str {
                match self {
                    $($name::$variant => $word),+
                }
            }
        }

        impl Default for $name {
            fn default() -> $name {
                $name::ALL[0]
            }
        }

        impl crate::decode::Decode for $name {
            fn decode(node: &crate::tree::Node, decoder: &mut crate::decode::Decoder) -> Option<$name> {
                let word = decoder.word(node, $noun, $name::WORDS)?;
                $name::WORDS.iter().position(|known| *known == word).map(|index| $name::ALL[index])
            }

            fn expected() -> String {
                crate::problem::listed($name::WORDS)
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({"description": crate::record::prose(&[$($doc),*]), "enum": $name::WORDS})
            }
        }
    };
}

macro_rules! default_of {
    () => {
        None
    };
    ($default:expr) => {
        Some($default)
    };
}

pub(crate) use {default_of, record, table, words};

/// "a table with `rate` and any of `queue`": required keys, then optional ones.
pub(crate) fn keys(shapes: &[Shape]) -> String {
    let Some(shape) = shapes.first() else { return "a table".into() };
    let (needed, others): (Vec<&String>, Vec<&String>) = shape.properties.keys().partition(|key| shape.required.contains(key));
    let quoted = |keys: Vec<&String>| keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
    match (needed.is_empty(), others.is_empty()) {
        (true, true) => "a table".into(),
        (false, true) => format!("a table with {}", quoted(needed)),
        (true, false) => format!("a table with any of {}", quoted(others)),
        (false, false) => format!("a table with {} and any of {}", quoted(needed), quoted(others)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Errors, Report};
    use crate::values::{Integer, Name};

    record! {
        /// A thing.
        pub struct Thing {
            /// How many.
            count: Integer<1, 9>,
            /// Whether it is on.
            on: bool = true,
            /// Its name.
            name: Option<Name>,
        }
        with
        /// Its motor.
        motor: Motor
    }

    record! {
        /// A steam engine.
        pub struct Motor {
            /// Its boilers.
            boilers: Integer<1, 3>,
        }
    }

    fn read(json: &str) -> (Option<Thing>, Errors) {
        let (node, source) = crate::tree::from_json(json, "").unwrap();
        let mut decoder = Decoder::new(Report::new(&source));
        let thing = Thing::decode(&node, &mut decoder);
        (thing, decoder.report.finish())
    }

    #[test]
    fn defaults_and_choices_are_read_and_written() {
        let (thing, errors) = read(r#"{"count": 3, "boilers": 2}"#);
        assert!(errors.list.is_empty());
        assert_eq!(serde_json::to_string(&thing).unwrap(), r#"{"count":3,"on":true,"boilers":2}"#);
    }

    #[test]
    fn every_error_of_a_table_is_found_in_one_pass() {
        let (_, errors) = read(r#"{"on": 1, "naem": "x"}"#);
        let found: Vec<_> = errors.list.iter().map(|problem| (problem.at.as_str(), problem.message.as_str())).collect();
        assert_eq!(
            found,
            [
                ("on", "`on` must be true or false, not a number"),
                ("count", "`count` is missing"),
                ("boilers", "`boilers` is missing"),
                ("naem", "`naem` is not a known key"),
            ]
        );
        assert_eq!(errors.list[3].hint.as_deref(), Some("did you mean `name`?"));
    }

    #[test]
    fn a_misspelt_required_key_is_one_error_and_leaves_its_place_invalid() {
        let (node, source) = crate::tree::from_json(r#"{"cuont": 3, "boilesr": 2}"#, "").unwrap();
        let mut decoder = Decoder::new(Report::new(&source));
        Thing::decode(&node, &mut decoder);
        assert!(!decoder.report.is_valid("count") && !decoder.report.is_valid("boilers") && decoder.report.is_valid("name"));
        let hints: Vec<_> = decoder.report.finish().list.into_iter().map(|problem| (problem.at, problem.hint.unwrap())).collect();
        let hint = |at: &str, word: &str| (at.to_string(), format!("did you mean `{word}`?"));
        assert_eq!(hints, [hint("cuont", "count"), hint("boilesr", "boilers")]);
    }

    #[test]
    fn the_schema_has_the_keys_of_a_part() {
        let schema = SchemaGenerator::default().into_root_schema_for::<Thing>().to_value();
        assert_eq!(schema["required"], json!(["boilers", "count"]));
        assert_eq!(schema["additionalProperties"], json!(false));
        assert_eq!(schema["properties"]["on"]["default"], json!(true));
    }
}
