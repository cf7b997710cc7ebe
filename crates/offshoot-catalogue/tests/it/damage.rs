//! The database may be damaged, foreign, unwritable or missing: the list stays the same, and the next one is fast
//! again.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};

use offshoot_catalogue::{CacheHealth, Catalogue};

use crate::world::{World, header, said};

fn world() -> World {
    world_of(60)
}

fn world_of(count: usize) -> World {
    let world = World::new();
    for at in 0..count {
        let cwd = if at % 2 == 0 { "a" } else { "b" };
        let words = "words ".repeat(at * 20);
        world.put(&format!("{cwd}/{at}"), header(&format!("id{at}"), cwd) + &said(&words, 1000 + at as u64));
    }
    world
}

fn health(world: &World) -> CacheHealth {
    Catalogue::new(&world.cache()).state().health
}

#[test]
fn a_database_that_is_none_is_made_anew() {
    let world = world();
    let disk = world.on_disk(None);
    assert_eq!(health(&world), CacheHealth::Absent);
    for bytes in [&b""[..], b"x", b"not a database at all, but a text that is long enough", &[0; 8192]] {
        fs::create_dir_all(world.cache()).unwrap();
        fs::write(world.database(), bytes).unwrap();
        assert_eq!(world.at_rest(None), disk);
        assert_eq!(health(&world), CacheHealth::Sound, "after {} bytes", bytes.len());
        assert_eq!(Catalogue::new(&world.cache()).state().sessions, 60);
    }
}

/// Overwrites 64 bytes at each place with zeros and with ones, and truncates the file there.
#[test]
fn damage_anywhere_changes_no_list() {
    let world = world_of(12);
    let disk = world.on_disk(None);
    world.at_rest(None);
    let sound = fs::read(world.database()).unwrap();
    let mut healed = 0;
    for at in (0..sound.len()).step_by(1499) {
        for damage in [Some(0), Some(0xff), None] {
            fs::write(world.database(), &sound).unwrap();
            let file = OpenOptions::new().write(true).open(world.database()).unwrap();
            match damage {
                Some(byte) => file.write_all_at(&[byte; 64], at as u64).unwrap(),
                None => file.set_len(at as u64).unwrap(),
            }
            assert_eq!(world.at_rest(None), disk, "{damage:?} at {at}");
            assert_eq!(world.at_rest(Some("/a")), world.on_disk(Some("/a")), "{damage:?} at {at}");
            healed += usize::from(health(&world) == CacheHealth::Sound);
        }
    }
    assert!(healed > 0);
}

#[test]
fn a_row_that_was_changed_in_the_database_is_not_believed() {
    let world = world();
    let disk = world.on_disk(None);
    world.at_rest(None);
    let database = rusqlite::Connection::open(world.database()).unwrap();
    let mut rows: Vec<(i64, Vec<u8>, Vec<u8>)> = database
        .prepare("SELECT folder, file, reading FROM session")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    // Every other row gets another's reading, and the rest a changed byte.
    let of_others: Vec<Vec<u8>> = rows.iter().map(|(_, _, reading)| reading.clone()).collect();
    for (at, (_, _, reading)) in rows.iter_mut().enumerate() {
        match at % 2 {
            0 => *reading = of_others[(at + 1) % of_others.len()].clone(),
            _ => reading[(at * 7) % of_others[at].len()] ^= 1,
        }
    }
    let set = "UPDATE session SET reading = ?3 WHERE folder = ?1 AND file = ?2";
    let changed: usize =
        rows.iter().map(|(folder, file, reading)| database.execute(set, (folder, file, reading)).unwrap()).sum();
    assert_eq!(changed, 60);
    drop(database);
    assert_eq!(world.at_rest(None), disk);
}

#[test]
fn a_database_of_another_version_is_emptied() {
    let world = world();
    let disk = world.on_disk(None);
    fs::create_dir_all(world.cache()).unwrap();
    let database = rusqlite::Connection::open(world.database()).unwrap();
    database.execute_batch("CREATE TABLE session (other TEXT); PRAGMA user_version = 99;").unwrap();
    drop(database);
    assert_eq!(health(&world), CacheHealth::Foreign);
    assert_eq!(world.at_rest(None), disk);
    assert_eq!(Catalogue::new(&world.cache()).state().sessions, 60);
}

#[test]
fn without_a_place_for_it_everything_is_listed() {
    let world = world();
    let disk = world.on_disk(None);
    fs::write(world.cache(), "a file where the folder should be").unwrap();
    assert_eq!(world.at_rest(None), disk);
    fs::remove_file(world.cache()).unwrap();
    fs::create_dir_all(world.database()).unwrap();
    assert_eq!(world.at_rest(None), disk);
    assert!(matches!(health(&world), CacheHealth::Unusable(_)));
}

#[test]
fn a_writer_that_goes_on_for_ever_keeps_nobody_waiting() {
    let world = world();
    world.at_rest(None);
    let mut database = rusqlite::Connection::open(world.database()).unwrap();
    let writing = database.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).unwrap();
    writing.execute("DELETE FROM session", []).unwrap();
    world.put("a/new", header("new", "a"));
    assert_eq!(world.at_rest(None), world.on_disk(None));
    assert_eq!(Catalogue::new(&world.cache()).state().sessions, 60, "readers see what was there before");
    drop(writing);
    assert_eq!(world.at_rest(None), world.on_disk(None));
    assert_eq!(Catalogue::new(&world.cache()).state().sessions, 61);
}

#[test]
fn first_words_are_for_their_owner_only() {
    let world = world();
    fs::create_dir_all(world.cache()).unwrap();
    fs::set_permissions(world.cache(), fs::Permissions::from_mode(0o755)).unwrap();
    world.at_rest(None);
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&world.cache()), mode(&world.database())), (0o700, 0o600));
}

#[test]
fn many_at_once_all_list_what_is_there() {
    let world = world();
    let disk = world.on_disk(None);
    for _ in 0..5 {
        drop(fs::remove_dir_all(world.cache()));
        std::thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| (0..5).for_each(|_| assert_eq!(world.at_rest(None), disk)));
            }
        });
        assert_eq!(health(&world), CacheHealth::Sound);
    }
}
