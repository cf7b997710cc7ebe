//! Whatever happens to the files, the catalogue lists what the store lists.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;

use proptest::prelude::*;

use crate::world::{World, header, restore_time, said};

/// An action, the file it acts on, and another file.
type Event = (u8, u8, u8);

const NAMES: [&str; 5] = ["a/1", "a/2", "a/3", "b/1", "b/2"];

fn happen(world: &World, (act, name, other): Event, number: u64) {
    let pick = |at: u8| NAMES[usize::from(at) % NAMES.len()];
    let (name, other) = (pick(name), pick(other));
    let (path, beside) = (world.path(name), world.path(other));
    let fresh = || header(&format!("id{number:03}"), &name[..1]) + &said(&format!("m{number:03}"), 1000 + number);
    let append = |bytes: &[u8]| {
        if let Ok(mut file) = OpenOptions::new().append(true).open(&path) {
            file.write_all(bytes).unwrap();
        }
    };
    match act % 14 {
        0 | 1 => fs::write(&path, fresh()).unwrap(),
        2 | 3 => append(said(&format!("m{number:03}"), 2000 + number).as_bytes()),
        4 => append(&said("torn", 3000 + number).as_bytes()[..90]),
        5 => append(b"\n"),
        6 => drop(fs::remove_file(&path)),
        7 => drop(fs::rename(&path, &beside)),
        8 => drop(File::options().append(true).open(&path).and_then(|file| file.set_modified(std::time::UNIX_EPOCH))),
        9 => drop(File::options().append(true).open(&path).and_then(|file| file.set_len(number % 120))),
        10 => fs::write(&path, "# notes\n").unwrap(),
        11 => drop(fs::write(&path, "")),
        _ => same_size_same_time(world, &path, act, number),
    }
}

/// Writes other words of the same length, in place or by a new file, and restores the old time.
fn same_size_same_time(world: &World, path: &std::path::Path, act: u8, number: u64) {
    let (Ok(bytes), Ok(meta)) = (fs::read(path), fs::metadata(path)) else { return };
    let text = String::from_utf8(bytes).unwrap();
    let is_words = |at: &usize| text[at + 2..].bytes().take(3).filter(u8::is_ascii_digit).count() == 3;
    let Some(at) = text.match_indices("\"m").map(|(at, _)| at).find(is_words) else { return };
    let text = format!("{}{:03}{}", &text[..at + 2], (number + 500) % 1000, &text[at + 5..]);
    if act % 14 == 12 {
        fs::write(path, text).unwrap();
    } else {
        let new = world.sessions().join("new");
        fs::write(&new, text).unwrap();
        fs::rename(new, path).unwrap();
    }
    restore_time(path, meta.modified().unwrap());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn at_rest_the_catalogue_lists_what_the_disk_lists(events in prop::collection::vec(any::<Event>(), 1..24)) {
        let world = World::new();
        for (number, event) in events.into_iter().enumerate() {
            world.next_tick();
            happen(&world, event, number as u64);
            prop_assert_eq!(world.at_rest(None), world.on_disk(None), "after event {}: {:?}", number, event);
            prop_assert_eq!(world.at_rest(Some("/a")), world.on_disk(Some("/a")));
            let mut listed: Vec<_> = world.portions(None).0.into_iter().flat_map(|portion| portion.sessions).collect();
            let mut on_disk = world.on_disk(None).0;
            listed.sort_by(|a, b| a.path.cmp(&b.path));
            on_disk.sort_by(|a, b| a.path.cmp(&b.path));
            prop_assert_eq!(listed, on_disk);
        }
    }

    /// Changes within one tick of the file system's clock leave no trace in a file's times.
    #[test]
    fn in_the_same_instant_the_catalogue_lists_what_the_disk_lists(events in prop::collection::vec(any::<Event>(), 1..24)) {
        let world = World::new();
        for (number, event) in events.into_iter().enumerate() {
            happen(&world, event, number as u64);
            prop_assert_eq!(world.at_once(None), world.on_disk(None), "after event {}: {:?}", number, event);
        }
    }
}

#[test]
fn the_newest_is_the_one_that_last_said_something_whatever_the_files_times_say() {
    let world = World::new();
    world.put("a/old", header("old", "a") + &said("q", 1000));
    world.put("a/new", header("new", "a") + &said("q", 2000));
    restore_time(&world.path("a/new"), std::time::UNIX_EPOCH);
    let newest = || world.at_rest(Some("/a")).0.remove(0).id;
    assert_eq!(newest(), "new");
    world.next_tick();
    world.put("a/old", header("old", "a") + &said("q", 1000) + &said("r", 3000));
    assert_eq!(newest(), "old");
}

#[test]
fn files_of_other_folders_and_links_are_kept_apart() {
    let world = World::new();
    world.put("a/same", header("one", "a"));
    world.put("b/same", header("two", "b"));
    std::os::unix::fs::symlink(world.path("a/same"), world.path("b/link")).unwrap();
    std::os::unix::fs::symlink(world.path("b/nowhere"), world.path("b/dangling")).unwrap();
    for _ in 0..2 {
        assert_eq!(world.at_rest(None), world.on_disk(None));
        assert_eq!(world.at_rest(None).0.len(), 2);
    }
}

#[test]
fn a_folder_that_is_gone_is_forgotten() {
    let world = World::new();
    world.put("a/1", header("one", "a"));
    world.put("b/1", header("two", "b"));
    let remembered = || offshoot_catalogue::Catalogue::new(&world.cache()).state().sessions;
    world.at_rest(None);
    assert_eq!(remembered(), 2);
    fs::remove_dir_all(world.sessions().join("--b--")).unwrap();
    world.put("a/2", header("three", "a"));
    assert_eq!(world.at_rest(None), world.on_disk(None));
    assert_eq!(remembered(), 2);
}
