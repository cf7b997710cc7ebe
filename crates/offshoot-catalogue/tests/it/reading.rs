//! Which parts of a file are read: settled bytes that were read before are not read again.

use std::fs::{self, OpenOptions};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;

use crate::world::{World, header, restore_time, said};

/// Changes bytes without changing the stamp, which real stores never do. A list that keeps the old text did not read
/// them.
pub(crate) fn change_unseen(path: &Path, from: &str, to: &str) {
    let at = fs::read_to_string(path).unwrap().find(from).unwrap() as u64;
    let mut file = OpenOptions::new().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(at)).unwrap();
    file.write_all(to.as_bytes()).unwrap();
}

/// The middle of a long file, away from the samples at its head and end.
fn long(middle: &str) -> String {
    let rows = |from: u64| (from..from + 100).map(|at| said("filler", at)).collect::<String>();
    header("s", "a") + &rows(1) + &said(middle, 500) + &rows(600)
}

#[test]
fn of_a_file_that_grew_only_what_is_new_is_read() {
    let world = World::new();
    let path = world.put("a/s", long("first-name"));
    let rename = |name: &str| format!(r#"{{"type":"session_info","id":"n","parentId":null,"name":"{name}"}}"#) + "\n";
    OpenOptions::new().append(true).open(&path).unwrap().write_all(rename("given").as_bytes()).unwrap();
    assert_eq!(world.at_rest(None).0[0].message_count, 201);
    // Reading the middle again would lose a message.
    change_unseen(&world.path("a/s"), r#"message","id":"e500""#, r#"mess_ge","id":"e500""#);
    OpenOptions::new().append(true).open(&path).unwrap().write_all(said("more", 900).as_bytes()).unwrap();
    let (listed, _) = world.at_rest(None);
    assert_eq!((listed[0].message_count, listed[0].name.as_deref()), (202, Some("given")));
}

#[test]
fn a_file_that_grew_and_is_another_at_its_head_or_its_old_end_is_read_anew() {
    for (from, to) in [(r#""id":"s""#, r#""id":"t""#), (r#"message","id":"e699""#, r#"mess_ge","id":"e699""#)] {
        let world = World::new();
        let path = world.put("a/s", long("x"));
        world.at_rest(None);
        change_unseen(&path, from, to);
        OpenOptions::new().append(true).open(&path).unwrap().write_all(said("more", 900).as_bytes()).unwrap();
        assert_eq!(world.at_rest(None), world.on_disk(None));
    }
}

#[test]
fn a_last_line_without_a_line_feed_is_shown_and_may_go_on() {
    let world = World::new();
    let whole = said("the whole line", 7);
    let (torn, rest) = whole.split_at(whole.len() - 1);
    let path = world.put("a/s", header("s", "a") + torn);
    for _ in 0..2 {
        let (listed, _) = world.at_rest(None);
        assert_eq!((listed[0].first_message.as_str(), listed[0].message_count), ("the whole line", 1));
    }
    world.next_tick();
    OpenOptions::new().append(true).open(path).unwrap().write_all(rest.as_bytes()).unwrap();
    assert_eq!(world.at_rest(None).0[0].message_count, 1);
}

#[test]
fn only_a_change_that_shows_in_nothing_is_overlooked_and_only_at_rest() {
    let world = World::new();
    let path = world.put("a/s", header("s", "a") + &said("m001", 7));
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    world.at_rest(None);
    world.next_tick();
    change_unseen(&world.path("a/s"), "m001", "m002");
    restore_time(&path, time);
    assert_eq!(world.at_rest(None).0[0].first_message, "m002", "the time of change cannot be set back");
}

#[test]
fn portions_come_newest_first_and_make_the_list() {
    let world = World::new();
    for number in 0..300 {
        let name = format!("{}/s{number:03}", if number % 2 == 0 { "a" } else { "b" });
        let path = world.put(&name, header(&format!("s{number:03}"), "a") + &said("x", 7 + number));
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000 + number);
        restore_time(&path, time);
    }
    world.put("a/broken", "no session");
    for _ in 0..2 {
        let (portions, diagnostics) = world.portions(None);
        let counts: Vec<(usize, usize)> = portions.iter().map(|portion| (portion.done, portion.total)).collect();
        assert!((4..12).contains(&portions.len()), "{counts:?}");
        assert!(counts.is_sorted() && counts.last() == Some(&(301, 301)), "{counts:?}");
        let first: Vec<&str> = portions[0].sessions.iter().map(|info| info.id.as_str()).collect();
        assert!(first.len() >= 31 && first.iter().all(|id| *id > "s250"), "{first:?}");
        let mut all: Vec<_> = portions.into_iter().flat_map(|portion| portion.sessions).collect();
        offshoot_session::list::sort_by_activity(&mut all);
        assert_eq!((all, diagnostics), world.on_disk(None));
    }
}

/// Two threads read the rows of many files, and all cores read a large folder.
#[test]
fn of_many_files_each_is_remembered() {
    let world = World::new();
    for at in 0..1100 {
        let folder = if at % 20 == 0 { "a" } else { "b" };
        world.put(&format!("{folder}/s{at}"), header(&format!("s{at}"), folder) + &said("first-name", 1));
    }
    let long_ones = ["a/long", "b/long"].map(|name| (name, world.put(name, long("x"))));
    assert_eq!(world.at_rest(None), world.on_disk(None));
    for (name, path) in &long_ones {
        // Reading the middle again would lose a message.
        change_unseen(&world.path(name), r#"message","id":"e500""#, r#"mess_ge","id":"e500""#);
        OpenOptions::new().append(true).open(path).unwrap().write_all(said("more", 900).as_bytes()).unwrap();
    }
    let (listed, _) = world.at_rest(None);
    let counts = |count: u64| listed.iter().filter(|info| info.message_count == count).count();
    assert_eq!((listed.len(), counts(1), counts(202)), (1102, 1100, 2));
}
