//! `tailback.h` has the structures and constants of the Rust side.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use syn::{Fields, GenericArgument, Item, PathArguments, PointerMutability, ReturnType, Type};

const HEADER: &str = include_str!("../include/tailback.h");
const SOURCES: [&str; 3] =
    [include_str!("../src/report.rs"), include_str!("../src/library.rs"), include_str!("../src/controllers.rs")];

/// Fields of each structure, as name and type in C without spaces.
type Structures = BTreeMap<String, Vec<(String, String)>>;

#[test]
fn structures_have_the_same_fields_in_the_same_order() {
    let (here, there) = (of_rust(), of_header());
    assert_eq!(here.len(), 8);
    assert_eq!(here, there);
}

#[test]
fn constants_have_the_same_values() {
    use tailback_host::controllers::{self, Kind};
    use tailback_host::{ConnectionState, EcnField, library};
    let kinds = [
        ("ACKED", Kind::Acked),
        ("LOST", Kind::Lost),
        ("MARKED", Kind::Marked),
        ("TIMEOUT", Kind::Timeout),
        ("OTHER_ACK", Kind::OtherAck),
        ("LOST_SEGMENT", Kind::LostSegment),
    ];
    let states = ["OPEN", "DISORDER", "CWR", "RECOVERY", "LOSS"].map(|name| format!("STATE_{name}"));
    let states = states.iter().map(String::as_str).zip(ConnectionState::ALL.map(|state| state as u32));
    let others = [
        ("ABI", library::ABI),
        ("SENT", library::SENT),
        ("FULL", library::FULL),
        ("ALL_ACKS", controllers::ALL_ACKS),
        ("ALL_LOSSES", controllers::ALL_LOSSES),
    ];
    let fields = [("NOT_ECT", EcnField::NotEct), ("ECT1", EcnField::Ect1), ("ECT0", EcnField::Ect0), ("CE", EcnField::Ce)];
    let expected = kinds.map(|(name, kind)| (name, kind as u32)).into_iter();
    let expected = expected.chain(fields.map(|(name, field)| (name, field as u32))).chain(others).chain(states);
    for (name, value) in expected {
        let words = ["#define", &format!("TAILBACK_{name}"), &value.to_string()];
        let defined = HEADER.lines().any(|line| line.split_whitespace().take(3).eq(words));
        assert!(defined, "{}", words.join(" "));
    }
}

/// The structures with the layout of C.
fn of_rust() -> Structures {
    let items = SOURCES.iter().flat_map(|source| syn::parse_file(source).unwrap().items);
    let structures = items.filter_map(|item| match item {
        Item::Struct(item) if item.attrs.iter().any(|attribute| attribute.path().is_ident("repr")) => Some(item),
        _ => None,
    });
    structures
        .map(|item| {
            let Fields::Named(fields) = item.fields else { panic!("{} has no names", item.ident) };
            let fields = fields.named.iter().map(|field| (field.ident.as_ref().unwrap().to_string(), c_type(&field.ty)));
            (item.ident.to_string().to_lowercase(), fields.collect())
        })
        .collect()
}

fn c_type(of: &Type) -> String {
    match of {
        Type::Ptr(pointer) => {
            let constant = if matches!(pointer.mutability, PointerMutability::Const(_)) { "const" } else { "" };
            format!("{constant}{}*", c_type(&pointer.elem))
        }
        Type::FnPtr(function) => {
            let arguments: Vec<_> = function.inputs.iter().map(|argument| c_type(&argument.ty)).collect();
            let result = match &function.output {
                ReturnType::Default => "void".into(),
                ReturnType::Type(_, of) => c_type(of),
            };
            format!("{result}({})", arguments.join(","))
        }
        // A function that may be null.
        Type::Path(path) if path.path.segments[0].ident == "Option" => {
            let PathArguments::AngleBracketed(of) = &path.path.segments[0].arguments else { panic!("Option of nothing") };
            let GenericArgument::Type(of) = &of.args[0] else { panic!("Option of no type") };
            c_type(of)
        }
        Type::Path(path) => match path.path.require_ident().unwrap().to_string().as_str() {
            "c_char" => "char".into(),
            "c_void" => "void".into(),
            "f64" => "double".into(),
            "usize" => "size_t".into(),
            word if word.starts_with('u') => format!("{}_t", word.replace('u', "uint")),
            word => format!("tailback_{}", word.to_lowercase()),
        },
        _ => panic!("no type of C"),
    }
}

fn of_header() -> Structures {
    let text: String = HEADER.split("*/").map(|part| part.split("/*").next().unwrap_or_default()).collect();
    let bodies = text.split("typedef struct ").skip(1).map(|part| part.split_once("} ").unwrap().0.split_once('{').unwrap());
    bodies
        .map(|(name, body)| {
            let fields = body.split(';').map(|field| field.split_whitespace().collect::<Vec<_>>().join(" "));
            let fields = fields.filter(|field| !field.is_empty()).map(|field| match field.split_once("(*") {
                Some((result, rest)) => {
                    let (name, arguments) = rest.split_once(")(").unwrap();
                    let arguments: Vec<_> = arguments.trim_end_matches(')').split(',').map(|one| declared(one).1).collect();
                    (name.to_owned(), format!("{}({})", result.replace(' ', ""), arguments.join(",")))
                }
                None => declared(&field),
            });
            (name.trim().trim_start_matches("tailback_").to_owned(), fields.collect())
        })
        .collect()
}

/// Name and type of a declaration.
fn declared(field: &str) -> (String, String) {
    let type_of = field.trim_end_matches(|letter: char| letter.is_alphanumeric() || letter == '_');
    (field[type_of.len()..].to_owned(), type_of.replace(' ', ""))
}
