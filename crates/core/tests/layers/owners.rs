//! The state of a run consists of owners: types with private fields, so that only their own functions change them. A function takes at most
//! three owners.

use super::{crates, read, relative, sources};
use std::collections::BTreeSet;
use syn::visit::{self, Visit};

/// By the file that defines it.
const OWNERS: &[(&str, &str)] = &[
    ("acks.rs", "Acks"),
    ("agenda.rs", "Agenda"),
    ("cells/mod.rs", "Cells"),
    ("clock.rs", "Clock"),
    ("domain_boundary.rs", "DomainBoundary"),
    ("endpoints/mod.rs", "Endpoints"),
    ("messages.rs", "Messages"),
    ("outcomes.rs", "Outcomes"),
    ("packets.rs", "Packets"),
    ("receiver_signals.rs", "ReceiverSignals"),
    ("receivers.rs", "Receivers"),
    ("wire.rs", "AccessRates"),
];

/// Types that consist of owners, by the file that defines them. Their other fields are private. They count as owners as well.
const COMPOSITIONS: &[(&str, &str)] = &[("fabric/mod.rs", "Fabric")];

const MAX_OWNERS: usize = 3;

#[test]
fn owners_have_private_fields_and_functions_take_few_of_them() {
    let root = crates().join("core/src/simulation");
    let files: Vec<(String, String)> = sources(&root).iter().map(|file| (relative(file, &root), read(file))).collect();
    for (file, owner) in OWNERS.iter().chain(COMPOSITIONS) {
        let text = files.iter().find(|(name, _)| name == file).map(|(_, text)| text.as_str());
        assert!(text.is_some_and(|text| text.contains(&format!("struct {owner}"))), "{file} does not define {owner}");
    }
    let faults: Vec<String> = files.iter().flat_map(|(file, text)| faults(file, text)).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_visible_field_and_a_function_of_too_many_owners_are_found() {
    assert_eq!(faults("clock.rs", "struct Clock { now: Time }"), [""; 0]);
    assert_eq!(
        faults("clock.rs", "struct Clock { pub(crate) now: Time }"),
        ["clock.rs: `Clock` has the visible field `now`; expected a private one, and a function of `Clock` for each use"]
    );
    assert_eq!(faults("messages.rs", "struct Messages(pub(super) Vec<Message>);").len(), 1);
    assert_eq!(
        faults("fabric/mod.rs", "struct Fabric { pub(super) clock: Clock, cells: Option<Box<Cells>>, ports: Vec<Port> }"),
        [""; 0]
    );
    assert_eq!(faults("fabric/mod.rs", "struct Fabric { pub(super) ports: Vec<Port> }").len(), 1);
    assert_eq!(faults("a.rs", "fn send(clock: &Clock, packets: &mut Packets, agenda: &mut Agenda, now: Time) {}"), [""; 0]);
    assert_eq!(
        faults("a.rs", "impl Acks { fn send(&self, clock: &Clock, packets: &mut Packets, of: (Time, &mut Agenda)) {} }"),
        ["a.rs: `send` takes 4 owners, Acks, Agenda, Clock, Packets; expected at most 3"]
    );
    assert_eq!(faults("a.rs", "impl Acks { fn send(clock: &Clock, packets: &mut Packets, agenda: &mut Agenda) {} }"), [""; 0]);
    assert_eq!(faults("a.rs", "#[cfg(test)]\nmod tests { fn send(a: Acks, b: Agenda, c: Clock, d: Packets) {} }"), [""; 0]);
}

/// Violations in a file of the simulation.
fn faults(file: &str, text: &str) -> Vec<String> {
    let parsed = syn::parse_file(text).unwrap_or_else(|error| panic!("{file}: {error}"));
    let mut found = Owners { file: file.to_string(), implemented: None, faults: Vec::new() };
    found.visit_file(&parsed);
    found.faults
}

struct Owners {
    file: String,
    /// The type of the `impl` block.
    implemented: Option<syn::Type>,
    faults: Vec<String>,
}

impl Owners {
    fn check_signature(&mut self, of: &syn::Signature) {
        let mut taken = Named::default();
        for argument in &of.inputs {
            match argument {
                syn::FnArg::Receiver(_) => self.implemented.iter().for_each(|own| taken.visit_type(own)),
                syn::FnArg::Typed(argument) => taken.visit_type(&argument.ty),
            }
        }
        if taken.owners.len() > MAX_OWNERS {
            let names = taken.owners.iter().cloned().collect::<Vec<_>>().join(", ");
            let (file, name, count) = (&self.file, &of.ident, taken.owners.len());
            self.faults.push(format!("{file}: `{name}` takes {count} owners, {names}; expected at most {MAX_OWNERS}"));
        }
    }
}

impl<'ast> Visit<'ast> for Owners {
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        let is_listed = |list: &[(&str, &str)]| list.contains(&(self.file.as_str(), item.ident.to_string().as_str()));
        let (is_owner, is_composition) = (is_listed(OWNERS), is_listed(COMPOSITIONS));
        for (index, field) in item.fields.iter().enumerate().filter(|_| is_owner || is_composition) {
            let mut named = Named::default();
            named.visit_type(&field.ty);
            let is_private = matches!(field.vis, syn::Visibility::Inherited);
            let consists_of_owners = is_composition && !named.owners.is_empty();
            if !is_private && !consists_of_owners {
                let name = field.ident.as_ref().map_or(index.to_string(), |name| name.to_string());
                let (file, owner) = (&self.file, &item.ident);
                self.faults.push(format!(
                    "{file}: `{owner}` has the visible field `{name}`; expected a private one, and a function of `{owner}` for each use"
                ));
            }
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if item.ident != "tests" {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        self.implemented = Some((*item.self_ty).clone());
        visit::visit_item_impl(self, item);
        self.implemented = None;
    }

    fn visit_signature(&mut self, item: &'ast syn::Signature) {
        self.check_signature(item);
    }
}

/// The owners that a type names.
#[derive(Default)]
struct Named {
    owners: BTreeSet<String>,
}

impl<'ast> Visit<'ast> for Named {
    fn visit_ident(&mut self, name: &'ast proc_macro2::Ident) {
        let is_owner = OWNERS.iter().chain(COMPOSITIONS).any(|(_, owner)| name == owner);
        self.owners.extend(is_owner.then(|| name.to_string()));
    }
}
