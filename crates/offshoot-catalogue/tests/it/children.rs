//! Children of sessions: the catalogue lists what their files say, and reads again only what changed.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use offshoot_catalogue::Catalogue;
use offshoot_session::children::{ChildInfo, ChildList};
use offshoot_session::clock::{Clock as _, SystemClock};

use crate::reading::change_unseen;
use crate::world::{World, header, said};

const START: &str = r#"{"type":"custom","customType":"offshoot.child","data":{"parentId":"p","parentEntry":"e1","toolCallId":"c","index":0,"name":"Alpha","agent":"scout","depth":1,"limits":{},"task":"look"},"id":"1","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z"}"#;
const END: &str = r#"{"type":"custom","customType":"offshoot.child_end","data":{"status":"completed","output":"x"},"id":"9","parentId":"1","timestamp":"2026-01-01T00:00:00.000Z"}"#;

fn answer(id: &str, cost: f64) -> String {
    format!(
        r#"{{"type":"message","id":"{id}","parentId":"1","timestamp":"2026-01-01T00:00:00.000Z","message":{{"role":"assistant","content":[],"usage":{{"input":1,"output":2,"cacheRead":0,"cacheWrite":0,"totalTokens":3,"cost":{{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":{cost}}}}}}}}}"#
    ) + "\n"
}

/// As the catalogue lists them an hour later, equal to what the files say.
fn listed(world: &World, session: &Path) -> ChildList {
    let now = SystemClock.now() + 3_600_000;
    let listed = Catalogue::new(&world.cache()).children(&[session, Path::new("/nowhere/s.jsonl")], now);
    let mut listed = listed.into_iter().map(Result::unwrap);
    let own = listed.next().unwrap();
    assert_eq!(listed.next(), Some(ChildList::default()));
    own
}

#[test]
fn children_are_listed_as_their_files_say_and_only_what_changed_is_read() {
    let world = World::new();
    let session = world.put("a/s", header("s", "a"));
    let folder = session.with_extension("");
    fs::create_dir(&folder).unwrap();
    let child = folder.join("Alpha.jsonl");
    // Far from both ends, which are compared.
    let filler = |from: u64| (from..from + 40).map(|at| answer(&at.to_string(), 0.0)).collect::<String>();
    let begun = header("x", "a") + START + "\n" + &filler(100) + &answer("3", 0.5) + &filler(200);
    fs::write(&child, &begun).unwrap();
    fs::write(folder.join("Alpha.Beta.jsonl"), header("y", "a") + &said("hello", 1)).unwrap();
    fs::write(folder.join("odd.jsonl"), "no session\n").unwrap();
    let words = |list: &ChildList| list.children.iter().map(ChildInfo::words).collect::<Vec<_>>();
    for _ in 0..2 {
        let list = listed(&world, &session);
        assert_eq!(list, ChildList::of(&session).unwrap());
        assert_eq!(
            (words(&list).join("; "), list.left_out),
            ("Alpha · scout · open · $0.5000; Beta · open".to_owned(), 1)
        );
    }
    // What was read before is not read again: this would show.
    change_unseen(&child, "\"total\":0.5", "\"total\":0.1");
    let mut file = OpenOptions::new().append(true).open(&child).unwrap();
    file.write_all(format!("{}{END}\n", answer("4", 0.25)).as_bytes()).unwrap();
    assert_eq!(words(&listed(&world, &session))[0], "Alpha · scout · completed · $0.7500");
    // What is said after its end goes on with its work.
    file.write_all(said("more", 5).as_bytes()).unwrap();
    assert_eq!(words(&listed(&world, &session))[0], "Alpha · scout · open · $0.7500");
    fs::remove_file(&child).unwrap();
    assert_eq!(words(&listed(&world, &session)), ["Beta · open"]);
    assert_eq!(listed(&world, &session), ChildList::of(&session).unwrap());
    // The list of sessions is what it was.
    assert_eq!(world.at_rest(None), world.on_disk(None));
}
