//! Imports run downwards only: within this crate by the order of its modules, between crates by the order of dependencies. Within the
//! simulation, the state belongs to owners.

#[path = "layers/owners.rs"]
mod owners;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};
use syn::visit::{self, Visit};

/// Layers, lowest first. A module imports from itself and from lower layers; modules in the same layer do not import one another.
type Layers = &'static [&'static [&'static str]];

/// The modules of a folder, which is relative to `src` and ends in `/`, or empty.
struct Modules {
    folder: &'static str,
    layers: Layers,
}

const CORE: Modules = Modules {
    folder: "",
    layers: &[
        &["primitives"],
        &["settings"],
        &["price", "user_code"],
        &["abr", "congestion", "queue", "schedule", "traffic"],
        &["tcp"],
        &["network"],
        &["record"],
        &["simulation"],
    ],
};

const SIMULATION: Modules = Modules {
    folder: "simulation/",
    layers: &[
        &["datagrams", "event_order", "routes", "measurement_interval", "pending_acks", "specialised", "user_code_factory"],
        &["acks", "agenda", "clock", "external_flow", "wire"],
        &["outcomes", "packets"],
        &["access_queue", "group_profile", "hosts", "path", "port", "receiver_signals"],
        &["cells", "messages"],
        &["receivers"],
        &["domain_boundary", "wiring"],
        &["endpoints", "fabric"],
        &["prefetch"],
        &["state"],
        &["senders"],
        &["signals"],
        &["engine"],
        &["conservation", "group_table", "memory", "message_table", "parallel"],
        &["results"],
        &["event_comparison", "inspection"],
    ],
};

const SCENARIO: &[Modules] = &[
    Modules {
        folder: "",
        layers: &[
            &["location", "renamed"],
            &["nearest"],
            &["problem"],
            &["tree"],
            &["misplaced", "short_forms", "unit_words"],
            &["decode"],
            &["record", "values"],
            &["quantity", "segments"],
            &["buffer", "distribution", "probability", "user_code"],
            &["rate_table"],
            &["demand_table", "flow_table", "link_rate", "threshold", "window_size"],
            &["rate_profile", "writes"],
            &["setting"],
            &["member", "preset_settings"],
            &["schema"],
            &["presets", "probes"],
            &["question"],
            &["network"],
            &["scenario"],
            &["emulation"],
        ],
    },
    Modules {
        folder: "schema/",
        layers: &[
            &["abr", "application", "controller", "node", "nodes", "policy", "prices", "recording", "source"],
            &["scheduling", "tcp", "traffic"],
            &["stack"],
            &["flow", "queue"],
            &["link", "timeline"],
            &["topology"],
            &["description"],
        ],
    },
    Modules {
        folder: "schema/topology/",
        layers: &[
            &["distance", "edge", "plan", "xml_cost"],
            &["disturbances", "generator", "graph_file"],
            &["gml", "graphml"],
            &["fabric"],
            // The generators are above these.
        ],
    },
    Modules {
        folder: "network/",
        layers: &[
            &["unused_tcp_settings"],
            &["chance", "marks", "paths", "policers", "settling", "sites", "transport"],
            &["demands"],
            &["offered", "phases", "traffic"],
            &["arrivals"],
            &["groups"],
            &["classes"],
            &["links"],
            &["graph"],
            &["prices", "routing", "traces"],
            &["possible_pairs", "routes"],
            &["expansion", "failures"],
            &["changes"],
            &["cells", "feeders"],
            &["rates"],
            &["flows"],
            &["messages"],
        ],
    },
];

const MODELS: &[Modules] = &[Modules {
    folder: "",
    layers: &[
        &["error", "limits", "root"],
        &["model"],
        &["parameter"],
        &["delay_based", "prices", "queues", "tcp"],
        &["sizing", "trunk"],
    ],
}];

const PREDICTION: &[Modules] = &[Modules {
    folder: "",
    layers: &[
        &["number_text", "starts"],
        &["traffic"],
        &["bundle", "prediction", "round_trips", "trunk_map"],
        &["datagrams", "delay_based", "random_loss", "sizing", "windows"],
        &["saturated", "trunk"],
        &["tcp"],
    ],
}];

const WASM: &[Modules] = &[
    Modules { folder: "", layers: &[&["hashes"], &["lab"], &["boundary"]] },
    Modules {
        folder: "lab/",
        layers: &[
            &["fault", "rows", "series", "tables"],
            &["knobs", "observed_entities", "sizing"],
            &["edits", "observations", "predictions"],
            &["fair_shares", "session"],
            &["description", "difference", "loss_analysis"],
        ],
    },
];

/// The folders whose layers are checked, by crate.
const LAYERED: &[(&str, &[Modules])] =
    &[("core", &[CORE, SIMULATION]), ("scenario", SCENARIO), ("models", MODELS), ("prediction", PREDICTION), ("wasm", WASM)];

const CRATES: Layers = &[
    &["sources"],
    &["allocation", "core", "models"],
    &["capture", "scenario"],
    &["host", "prediction"],
    &["emulator", "linux", "stacks"],
    &["python", "stacks-python", "wasm"],
];

#[test]
fn files_import_one_another_in_no_circle() {
    let of_crate = |name: &str| {
        let root = crates().join(name).join("src");
        let files = sources(&root).into_iter().filter(|file| file.extension().is_some_and(|kind| kind == "rs"));
        let files = files.map(|file| (module_of(&relative(&file, &root)), read(&file))).collect();
        circles(&graph(&files)).into_iter().map(|circle| format!("{name}: {}", circle.join(" "))).collect::<Vec<_>>()
    };
    assert_eq!(CRATES.concat().into_iter().flat_map(of_crate).collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn a_circle_of_imports_is_found_whatever_their_form() {
    let circles_of = |files: &[(&str, &str)]| {
        let files = files.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect();
        circles(&graph(&files)).into_iter().map(|circle| circle.join(" ")).collect::<Vec<_>>()
    };
    let sender = |text| {
        circles_of(&[("tcp", "mod sender; mod timer;"), ("tcp::sender", "use super::timer::Timer;"), ("tcp::timer", text)])
    };
    assert_eq!(sender("fn start(sender: &mut crate::tcp::sender::Sender) {}"), ["tcp::sender tcp::timer"]);
    assert_eq!(sender("use super::{spec::TimerSpec, sender::{self, Sender}};"), ["tcp::sender tcp::timer"]);
    assert_eq!(sender("#[cfg(test)]\nmod tests {\n    use crate::tcp::sender::Sender;\n}"), [""; 0]);
    assert_eq!(circles_of(&[("queue", "mod red;\nuse red::Red;"), ("queue::red", "use super::Policy;")]), ["queue queue::red"]);
    assert_eq!(circles_of(&[("queue", "mod red;\npub use red::Red;"), ("queue::red", "use super::Policy;")]), [""; 0]);
    let list = "policies! { /// Not \"red::Red\".\n\n red::Red, }";
    assert_eq!(circles_of(&[("queue", list), ("queue::red", "use super::Policy;")]), ["queue queue::red"]);
}

#[test]
fn modules_import_from_the_layers_below_them_only() {
    let mut faults = Vec::new();
    for (name, folders) in LAYERED {
        let root = crates().join(name).join("src");
        let files: Vec<(String, String)> = sources(&root).iter().map(|file| (relative(file, &root), read(file))).collect();
        assert!(files.len() > 10, "the sources of crates/{name} were not found");
        for (file, text) in &files {
            let found = folders.iter().flat_map(|modules| violations(file, text, modules));
            faults.extend(found.map(|fault| format!("crates/{name}/src/{fault}")));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_crate_includes_only_data_files_of_its_own() {
    let mut included = 0;
    for file in sources(&crates()).into_iter().filter(|file| file.extension().is_some_and(|kind| kind == "rs")) {
        // The path behind `include_str!` or `include_bytes!`, if it is a literal.
        let text = read(&file);
        let path =
            |rest: &'_ str| rest.strip_prefix("str!(\"").or(rest.strip_prefix("bytes!(\""))?.split('"').next().map(String::from);
        for path in text.split("include_").skip(1).filter_map(path) {
            let depth = relative(&file, &crates()).matches('/').count();
            let inside = path.matches("../").count() < depth;
            assert!(inside, "{} includes {path}, which is outside its crate", relative(&file, &crates()));
            included += 1;
        }
    }
    assert!(included > 0, "no included file was found");
}

#[test]
fn crates_depend_on_the_layers_below_them_only() -> io::Result<()> {
    let crates = crates();
    let names = || CRATES.iter().flat_map(|layer| layer.iter());
    let there = fs::read_dir(&crates)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    assert_eq!(there.collect::<io::Result<BTreeSet<String>>>()?, names().map(|name| name.to_string()).collect());
    for name in names() {
        let manifest = read(&crates.join(name).join("Cargo.toml"));
        let dependencies = manifest.split("[dependencies]").nth(1).and_then(|rest| rest.split("\n[").next()).unwrap_or("");
        for other in names().filter(|other| dependencies.contains(&format!("tailback-{other}"))) {
            let allowed = layer_of(other, CRATES) < layer_of(name, CRATES);
            assert!(allowed, "crates/{name} depends on crates/{other}; expected one of a layer below: {}", order(CRATES));
        }
    }
    Ok(())
}

#[test]
fn an_import_that_points_upwards_or_sideways_is_found() {
    let found = |file, text| violations(file, text, &CORE).len();
    assert_eq!(found("tcp/sender.rs", "use crate::primitives::units::Time;\nuse crate::congestion::Ack;\n"), 0);
    assert_eq!(found("primitives/packet.rs", "use crate::network::MAX_PACKET;\n"), 1);
    assert_eq!(found("queue/mod.rs", "use crate::congestion::Ack;\n"), 1);
    assert_eq!(found("queue/red.rs", "use crate::{primitives::math, congestion::Ack, tcp};\n"), 2);
    assert_eq!(found("record/recorder.rs", "fn new(port: &crate::simulation::Port) {}\n"), 1);
    assert_eq!(found("tcp/recovery/sack.rs", "use super::super::super::network::Network;\nuse super::super::sender::Tcp;\n"), 1);
    assert_eq!(found("primitives/line.rs", "// See crate::network.\n/// [`crate::network::Port`]\n"), 0);
    assert_eq!(
        found("primitives/line.rs", "#[cfg(test)]\nmod tests {\n    use crate::Engine;\n    use crate::network::Port;\n}\n"),
        0
    );
    assert_eq!(found("primitives/line.rs", "use crate::Engine;\n"), 1);
    let inside = |file, text| violations(file, text, &SIMULATION).len();
    assert_eq!(
        inside(
            "simulation/port/ahead.rs",
            "use super::equipment::BufferState;\nuse crate::simulation::measurement_interval::MeasurementInterval;\n"
        ),
        0
    );
    assert_eq!(inside("simulation/port/ahead.rs", "use super::super::fabric::Fabric;\nuse crate::simulation::Engine;\n"), 2);
    assert_eq!(inside("simulation/fabric/mod.rs", "use super::engine::Engine;\nuse super::port::Port;\n"), 1);
    assert_eq!(inside("tcp/sender.rs", "use super::engine::Engine;\n"), 0);
    assert_eq!(
        violations("primitives/packet.rs", "\nuse crate::network::MAX_PACKET;\n", &CORE),
        [
            "primitives/packet.rs, line 2: `primitives` imports `network`; expected itself or a layer below: primitives < settings < price, user_code < abr, \
          congestion, queue, schedule, traffic < tcp < network < record < simulation"
        ]
    );
}

/// The path of a file's module, without `crate`.
fn module_of(file: &str) -> String {
    let module = file.trim_end_matches(".rs").trim_end_matches("/mod").replace('/', "::");
    if module == "lib" { String::new() } else { module }
}

/// The modules that each module imports from, among those with a file. Unit tests do not count.
fn graph(files: &BTreeMap<String, String>) -> Graph<'_> {
    let of = |(module, text): (&'_ String, &String)| {
        let parsed = syn::parse_file(text).unwrap_or_else(|error| panic!("{module}: {error}"));
        let mut imports = Imports { module: module.split("::").filter(|name| !name.is_empty()).collect(), paths: Vec::new() };
        imports.visit_file(&parsed);
        imports.paths
    };
    let nearest = |mut path: Vec<String>| {
        while !path.is_empty() && !files.contains_key(&path.join("::")) {
            path.pop();
        }
        files.get_key_value(&path.join("::")).map(|(name, _)| name.as_str())
    };
    files
        .iter()
        .map(|file| (file.0.as_str(), of(file).into_iter().filter_map(nearest).filter(|other| other != file.0).collect()))
        .collect()
}

type Graph<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// Modules that reach one another.
fn circles(graph: &Graph<'_>) -> BTreeSet<Vec<String>> {
    let reached: Graph<'_> = graph.keys().map(|module| (*module, reached(graph, module))).collect();
    let circle = |module: &str| {
        let others = reached[module].iter().filter(|other| reached[*other].contains(module));
        others.map(|name| name.to_string()).collect::<Vec<_>>()
    };
    graph.keys().map(|module| circle(module)).filter(|circle| !circle.is_empty()).collect()
}

fn reached<'a>(graph: &Graph<'a>, from: &'a str) -> BTreeSet<&'a str> {
    let (mut found, mut left) = (BTreeSet::new(), vec![from]);
    while let Some(next) = left.pop() {
        left.extend(graph[next].iter().filter(|other| found.insert(**other)));
    }
    found
}

/// Collects the paths that a file names, from the crate's root.
struct Imports<'a> {
    module: Vec<&'a str>,
    paths: Vec<Vec<String>>,
}

impl Imports<'_> {
    fn add(&mut self, path: &[String]) {
        let above = path.iter().take_while(|name| *name == "super").count();
        let base = match path.first().map(String::as_str) {
            Some("crate") => &[],
            Some("super") => &self.module[..self.module.len().saturating_sub(above)],
            // A child, or another crate.
            _ => &self.module[..],
        };
        let rest = path.iter().skip_while(|name| ["crate", "self", "super"].contains(&name.as_str()));
        self.paths.push(base.iter().map(|name| name.to_string()).chain(rest.cloned()).collect());
    }

    fn add_tree(&mut self, before: &[String], tree: &syn::UseTree) {
        let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        match tree {
            syn::UseTree::Path(path) => self.add_tree(&with(&path.ident), &path.tree),
            syn::UseTree::Group(group) => group.items.iter().for_each(|item| self.add_tree(before, item)),
            syn::UseTree::Name(name) => self.add(&with(&name.ident)),
            syn::UseTree::Rename(rename) => self.add(&with(&rename.ident)),
            syn::UseTree::Glob(_) => self.add(before),
        }
    }
}

impl<'ast> Visit<'ast> for Imports<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let attributes = match item {
            syn::Item::Mod(item) => &item.attrs,
            syn::Item::Use(item) => &item.attrs,
            syn::Item::Fn(item) => &item.attrs,
            _ => &Vec::new(),
        };
        let is_for_tests_or_documentation = |attribute: &syn::Attribute| {
            attribute.path().is_ident("cfg")
                && attribute.parse_args::<syn::Ident>().is_ok_and(|word| word == "test" || word == "doc")
        };
        if !attributes.iter().any(is_for_tests_or_documentation) {
            visit::visit_item(self, item);
        }
    }

    /// A re-export is not an import.
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if matches!(item.vis, syn::Visibility::Inherited) {
            self.add_tree(&[], &item.tree);
        }
    }

    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    /// The arguments of a macro, such as a list of members, name modules too.
    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        let text = item.tokens.to_string().replace("\\\"", "").split('"').step_by(2).collect::<String>().replace(" :: ", "::");
        let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
        let paths = words.filter(|word| word.contains("::") && !word.starts_with("::"));
        paths.for_each(|path| self.add(&path.split("::").map(str::to_string).collect::<Vec<_>>()));
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if ["crate", "super"].contains(&names[0].as_str()) {
            self.add(&names);
        }
        visit::visit_path(self, path);
    }
}

/// The imports of a source file that the layers of a folder do not allow. Unit tests may use the whole engine.
fn violations(file: &str, text: &str, Modules { folder, layers }: &Modules) -> Vec<String> {
    let Some(inside) = file.strip_prefix(folder) else { return Vec::new() };
    let module: Vec<&str> = inside.trim_end_matches(".rs").trim_end_matches("/mod").split('/').collect();
    if ["lib", "mod"].contains(&module[0]) {
        return Vec::new();
    }
    let roots = [format!("crate::{}", folder.replace('/', "::")), "super::".repeat(module.len())];
    let code = without_tests_and_comments(text);
    let of_line = |(number, line): (usize, &String)| {
        let upwards = imports(line, &roots).into_iter().filter(|other| other != module[0]);
        let upwards = upwards.filter(|other| layer_of(other, layers) >= layer_of(module[0], layers));
        let fault = |other: String| {
            let allowed = order(layers);
            format!("{file}, line {number}: `{}` imports `{other}`; expected itself or a layer below: {allowed}", module[0])
        };
        upwards.map(fault).collect::<Vec<_>>()
    };
    (1..).zip(&code).flat_map(of_line).collect()
}

/// The names that a line imports from one of these roots.
fn imports(line: &str, roots: &[String]) -> Vec<String> {
    let word = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut found = Vec::new();
    for root in roots {
        for (at, _) in line.match_indices(root.as_str()) {
            let before = line[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
                continue;
            }
            match line[at + root.len()..].strip_prefix('{') {
                Some(group) => found.extend(top_level(group).into_iter().map(word)),
                None => found.push(word(&line[at + root.len()..])),
            }
        }
    }
    found.retain(|name| !name.is_empty() && name != "super");
    found
}

/// The members of `{a::b, c::{d, e}, f}`, without its first brace.
fn top_level(group: &str) -> Vec<&str> {
    let (mut depth, mut start, mut members) = (0, 0, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                members.push(group[start..at].trim());
                return members;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                members.push(group[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    members
}

/// The lines of a file, blank for comments and for items that only tests use. A `use` of several lines is joined in its first.
fn without_tests_and_comments(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let (mut in_tests, mut in_use) = (false, None);
    for line in text.lines() {
        in_tests |= line == "#[cfg(test)]";
        let code = if in_tests { "" } else { line.split("//").next().unwrap_or("") };
        in_tests &= !(line == "}" || (line.ends_with(';') && !line.starts_with(' ')));
        if let Some(first) = in_use {
            let first: &mut String = &mut lines[first];
            first.push_str(code.trim());
            in_use = in_use.filter(|_| !code.contains(';'));
            lines.push(String::new());
            continue;
        }
        let starts_use = code.trim_start().trim_start_matches("pub ").starts_with("use ") && !code.contains(';');
        in_use = starts_use.then_some(lines.len());
        lines.push(code.to_string());
    }
    lines
}

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The index of a name's layer. Names without a layer, such as a new module or an item of `lib.rs`, are above all layers.
fn layer_of(name: &str, layers: Layers) -> usize {
    layers.iter().position(|layer| layer.contains(&name)).unwrap_or(layers.len())
}

fn order(layers: Layers) -> String {
    layers.iter().map(|layer| layer.join(", ")).collect::<Vec<_>>().join(" < ")
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap_or_else(|error| unread(folder, &error)) {
        let path = entry.unwrap_or_else(|error| unread(folder, &error)).path();
        if path.is_dir() { files.extend(sources(&path)) } else { files.push(path) }
    }
    files.sort();
    files
}

fn relative(file: &Path, root: &Path) -> String {
    file.strip_prefix(root).unwrap_or(file).to_string_lossy().replace('\\', "/")
}

fn read(file: &Path) -> String {
    String::from_utf8_lossy(&fs::read(file).unwrap_or_else(|error| unread(file, &error))).into_owned()
}

fn unread(path: &Path, error: &io::Error) -> ! {
    panic!("{}: {error}", path.display())
}
