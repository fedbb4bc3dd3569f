//! No signature takes two bare numbers of one type, which a caller could swap, or a `bool`, which says nothing where it is passed; and in this
//! crate whatever is a size, a window or a count of segments is a type of its own.
//!
//! What a macro writes is not seen. What Python calls takes keywords.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};
use syn::{Attribute, FnArg, ImplItemFn, Item, ItemFn, ItemImpl, ItemMod, ItemType, Pat, Signature, Type};

const CRATES: [&str; 5] = ["core", "scenario", "capture", "emulator", "python"];

const NUMBERS: [&str; 14] =
    ["u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f32", "f64"];

/// Parameters that are to be `Bytes`, `Units`, `Segments` or `Cwnd`.
const MEASURED: [&str; 15] = [
    "acked",
    "bytes",
    "cells",
    "cwnd",
    "header",
    "in_flight",
    "mss",
    "packet",
    "packets",
    "payload",
    "segments",
    "size",
    "ssthresh",
    "units",
    "window",
];

/// Functions that may, by file and name.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("core/src/primitives/math.rs", "pow", "the library's own order"),
    ("scenario/src/tree.rs", "visit_bool", "a method of `serde::de::Visitor`"),
];

#[test]
fn no_signature_takes_what_a_caller_could_confuse() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Sources::default();
    for name in CRATES {
        files.read(&crates.join(name).join("src"), &format!("{name}/src"));
    }
    assert!(files.parsed.len() > 150, "the sources are not where they were");
    let (excepted, faults): (Vec<Fault>, Vec<Fault>) =
        files.faults().into_iter().partition(|fault| EXCEPTIONS.iter().any(|(file, function, _)| fault.is_in(file, function)));
    for (file, function, _) in EXCEPTIONS {
        assert!(excepted.iter().any(|fault| fault.is_in(file, function)), "{file}: `{function}` needs no exception");
    }
    assert!(faults.is_empty(), "{}", faults.iter().map(|fault| fault.text.as_str()).collect::<Vec<_>>().join("\n"));
}

#[test]
fn what_a_caller_could_confuse_is_found() {
    let faults = |file: &str, text: &str| {
        let mut files = Sources::default();
        files.take(file, text);
        files.faults().into_iter().map(|fault| fault.text).collect::<Vec<_>>()
    };
    let found = |text| faults("core/src/a.rs", text).len();
    assert_eq!(
        faults("core/src/a.rs", "\nfn serve(from: u32, now: Time, to: u32) {}\n"),
        ["core/src/a.rs, line 2: `serve` takes two bare u32, `from` and `to`; expected a type of their own"]
    );
    assert_eq!(found("fn serve(from: u32, to: u64, share: f64) {}"), 0);
    assert_eq!(found("fn serve(from: &u32, to: &mut u32) {}"), 1);
    assert_eq!(found("type PortId = u32;\nfn serve(from: PortId, to: u32) {}"), 1);
    assert_eq!(found("impl Port { fn serve(&self, (from, to): (u32, u32), at: [u32; 2], by: Option<u32>) {} }"), 0);
    assert_eq!(found("impl Port { fn serve(&mut self, from: u32, to: u32) {} }"), 1);
    assert_eq!(found("impl Serves for Port { fn serve(from: u32, to: u32) {} }"), 1);
    assert_eq!(found("trait Serves { fn serve(from: f64, to: f64); }"), 1);
    assert_eq!(found("mod inner { fn serve() { fn inside(from: u32, to: u32) {} } }"), 1);
    assert_eq!(
        faults("scenario/src/a.rs", "fn serve(now: Time, late: bool) {}"),
        ["scenario/src/a.rs, line 1: `serve` takes a bool, `late`; expected an enum, a named field or two functions"]
    );
    assert_eq!(
        faults("core/src/a.rs", "fn serve(now: Time, bytes: u32) {}"),
        ["core/src/a.rs, line 1: `serve` takes a bare u32, `bytes`; expected Bytes, Units, Segments or Cwnd"]
    );
    assert_eq!(faults("scenario/src/a.rs", "fn serve(now: Time, bytes: u32) {}").len(), 0);
    // What only tests or Python call.
    assert_eq!(found("#[cfg(test)]\nmod tests { fn serve(late: bool) {} }"), 0);
    assert_eq!(found("#[cfg(test)]\nimpl Port { fn serve(late: bool) {} }"), 0);
    assert_eq!(found("#[pyfunction]\nfn serve(late: bool) {}\n#[pymethods]\nimpl Port { fn serve(late: bool) {} }"), 0);
    let mut files = Sources::default();
    files.take("core/src/a/mod.rs", "#[cfg(test)]\nmod only_tests;\nmod served;");
    files.take("core/src/a/only_tests.rs", "fn serve(late: bool) {}");
    files.take("core/src/a/served.rs", "fn serve(late: bool) {}");
    assert_eq!(files.faults().len(), 1);
}

/// A signature that takes what it should not.
struct Fault {
    file: String,
    function: String,
    text: String,
}

impl Fault {
    fn is_in(&self, file: &str, function: &str) -> bool {
        self.file == file && self.function == function
    }
}

/// Source files, by their paths within `crates`.
#[derive(Default)]
struct Sources {
    parsed: BTreeMap<String, syn::File>,
    /// Files of modules that only tests have.
    of_tests: BTreeSet<String>,
    /// Other names of numbers.
    aliases: BTreeMap<String, String>,
}

impl Sources {
    /// Everything in a folder, which is called `name`.
    fn read(&mut self, folder: &Path, name: &str) {
        let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let paths: BTreeSet<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        for path in paths {
            let inside = format!("{name}/{}", path.file_name().unwrap_or_default().to_string_lossy());
            if path.is_dir() {
                self.read(&path, &inside);
            } else {
                self.take(&inside, &fs::read_to_string(&path).unwrap_or_else(|error| panic!("{inside}: {error}")));
            }
        }
    }

    fn take(&mut self, file: &str, text: &str) {
        let parsed = syn::parse_file(text).unwrap_or_else(|error| panic!("{file}: {error}"));
        let folder = file.trim_end_matches(".rs").trim_end_matches("/mod").trim_end_matches("/lib");
        for item in &parsed.items {
            match item {
                Item::Mod(module) if module.content.is_none() && is_exempt(&module.attrs) => {
                    self.of_tests.insert(format!("{folder}/{}.rs", module.ident));
                }
                Item::Type(ItemType { ident, ty, .. }) if bare(ty).is_some_and(|name| NUMBERS.contains(&name.as_str())) => {
                    self.aliases.extend(bare(ty).map(|number| (ident.to_string(), number)));
                }
                _ => {}
            }
        }
        self.parsed.insert(file.into(), parsed);
    }

    fn faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        for (file, parsed) in self.parsed.iter().filter(|(file, _)| !self.of_tests.contains(*file)) {
            Signatures { file, aliases: &self.aliases, faults: &mut faults }.visit_file(parsed);
        }
        faults
    }
}

/// The signatures of one file.
struct Signatures<'a> {
    file: &'a str,
    aliases: &'a BTreeMap<String, String>,
    faults: &'a mut Vec<Fault>,
}

impl Signatures<'_> {
    fn fault(&mut self, signature: &Signature, what: &str) {
        let (file, function) = (self.file.to_string(), signature.ident.to_string());
        let text = format!("{file}, line {}: `{function}` takes {what}", signature.ident.span().start().line);
        self.faults.push(Fault { file, function, text });
    }
}

impl<'ast> Visit<'ast> for Signatures<'_> {
    fn visit_signature(&mut self, signature: &'ast Signature) {
        let mut numbers: BTreeMap<String, String> = BTreeMap::new();
        for input in &signature.inputs {
            let FnArg::Typed(parameter) = input else { continue };
            let Pat::Ident(pattern) = &*parameter.pat else { continue };
            let (name, Some(kind)) = (pattern.ident.to_string(), bare(&parameter.ty)) else { continue };
            let kind = self.aliases.get(&kind).cloned().unwrap_or(kind);
            if kind == "bool" {
                self.fault(signature, &format!("a bool, `{name}`; expected an enum, a named field or two functions"));
            }
            if !NUMBERS.contains(&kind.as_str()) {
                continue;
            }
            if self.file.starts_with("core/") && MEASURED.contains(&name.as_str()) {
                self.fault(signature, &format!("a bare {kind}, `{name}`; expected Bytes, Units, Segments or Cwnd"));
            }
            if let Some(other) = numbers.insert(kind.clone(), name.clone()) {
                self.fault(signature, &format!("two bare {kind}, `{other}` and `{name}`; expected a type of their own"));
            }
        }
        visit::visit_signature(self, signature);
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !is_exempt(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        if !is_exempt(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        if !is_exempt(&item.attrs) {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        if !is_exempt(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }
}

/// Only tests have it, or Python calls it.
fn is_exempt(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let of_tests = attribute.path().is_ident("cfg")
            && attribute.meta.require_list().is_ok_and(|condition| condition.tokens.to_string() == "test");
        of_tests || attribute.path().is_ident("pyfunction") || attribute.path().is_ident("pymethods")
    })
}

/// The name of a type that is nothing but a name, of what a reference refers to too.
fn bare(of: &Type) -> Option<String> {
    match of {
        Type::Reference(reference) => bare(&reference.elem),
        Type::Paren(inner) => bare(&inner.elem),
        Type::Path(path) => path.path.get_ident().map(ToString::to_string),
        _ => None,
    }
}
