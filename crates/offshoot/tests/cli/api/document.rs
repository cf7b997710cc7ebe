//! `docs/api.md` says what the program does: its table of methods and its example are checked against the real one.

use std::collections::{BTreeMap, BTreeSet};

use super::client::{Api, items, member, string};

const DOCUMENT: &str = include_str!("../../../../../docs/api.md");

/// The methods as the program names them, in the document's notation.
pub(super) fn discovered(api: &mut Api) -> BTreeSet<String> {
    let methods = member(&api.result("rpc.discover", "{}"), "methods").unwrap();
    let param = |param: &String| {
        let mark = if member(param, "required").unwrap() == "true" { "" } else { "?" };
        format!("{}{mark}", string(param, "name"))
    };
    let method = |method: &String| {
        let params: Vec<String> = items(&member(method, "params").unwrap()).iter().map(param).collect();
        format!("{}{{{}}}", string(method, "name"), params.join(", "))
    };
    items(&methods).iter().map(method).collect()
}

#[test]
fn the_document_names_every_method_with_its_arguments() {
    let folder = tempfile::tempdir().unwrap();
    let rows = DOCUMENT.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    let documented: BTreeSet<String> =
        rows.map(|(name, _)| name.replace(", …", "")).filter(|name| name.ends_with('}')).collect();
    assert_eq!(documented, discovered(&mut Api::start(folder.path())));
}

/// What differs between two runs: ids, times and paths. Each has the same meaning throughout.
#[derive(Default)]
struct Bindings(BTreeMap<String, String>);

impl Bindings {
    fn apply(&self, line: &str) -> String {
        let parts = line.split('"').map(|part| self.0.get(part).map_or(part, String::as_str));
        parts.collect::<Vec<_>>().join("\"")
    }

    fn compare(&mut self, documented: &str, actual: &str) {
        let (left, right): (Vec<_>, Vec<_>) = (documented.split('"').collect(), actual.split('"').collect());
        assert_eq!(left.len(), right.len(), "documented {documented}\nactual {actual}");
        for (left, right) in left.into_iter().zip(right) {
            if !varies(left) {
                assert_eq!(left, right, "documented {documented}\nactual {actual}");
                continue;
            }
            assert_eq!(shape(left), shape(right), "documented {documented}\nactual {actual}");
            let bound = self.0.entry(left.to_owned()).or_insert_with(|| right.to_owned());
            assert_eq!(bound, right, "{left} stood for something else before");
        }
    }
}

/// Whether a string is an id, a time or a path.
fn varies(text: &str) -> bool {
    let is_id = |text: &str| text.len() >= 8 && text.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    is_id(text) && text != "ffffffff"
        || text.ends_with(".jsonl")
        || text.ends_with(".000Z")
        || text.ends_with('Z') && text.len() == 24
}

/// The sort of such a string.
fn shape(text: &str) -> (usize, bool) {
    if text.ends_with(".jsonl") { (0, true) } else { (text.len(), false) }
}

#[test]
fn the_documents_example_replays() {
    let folder = tempfile::tempdir().unwrap();
    let (mut api, mut bindings, mut answers) = (Api::start(folder.path()), Bindings::default(), 0);
    for line in DOCUMENT.lines() {
        if let Some(request) = line.strip_prefix("> ") {
            api.send(format!("{}\n", bindings.apply(request)));
        } else if let Some(answer) = line.strip_prefix("< ") {
            bindings.compare(answer, &api.receive());
            answers += 1;
        }
    }
    assert!(answers > 8, "the example has shrunk to {answers} answers");
    assert_eq!(api.finish().0, "", "more answers than the document has");
}
