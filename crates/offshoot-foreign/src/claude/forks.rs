//! Forks of Claude Code's sessions that name no parent: they begin with the same records, under the same uuids. The parent of one is the
//! file with which it shares the longest run, and of two files the one whose first own record is older. Files are read as far as they are
//! equal, and no further than a bound.

use std::collections::BTreeMap;
use std::path::PathBuf;

use memchr::memchr;
use offshoot_session::clock::Millis;
use offshoot_session::medium::{Medium as _, read_exact_at};

use super::line::ClaudeLine;
use crate::foreign_medium::ForeignMedium;
use crate::key::Key;
use crate::record::text_of;

/// Read at once at first, and at most. Most files differ in their first record.
const PIECES: (u64, u64) = (16 << 10, 1 << 20);
/// No file is compared beyond.
const MOST_OF_ONE: u64 = 8 << 20;
/// Bytes of all files that are compared at once.
const MOST: u64 = 128 << 20;

/// The forks among the sessions of one folder, each with its parent. What is still equal where reading stops is nobody's fork.
#[must_use]
pub fn unnamed_forks(files: &[PathBuf]) -> Vec<(PathBuf, PathBuf)> {
    let mut files = files.to_vec();
    files.sort();
    files.dedup();
    let mut heads: Vec<FileHead> = files.iter().map(|path| FileHead::new(path.clone())).collect();
    let parents = RunTree::of(&mut heads).parents();
    let path = |at: usize| files.get(at).cloned();
    parents.into_iter().filter_map(|(fork, parent)| Some((path(fork)?, path(parent)?))).collect()
}

/// The beginning of a file, read bit by bit.
struct FileHead {
    path: PathBuf,
    bytes: Vec<u8>,
    /// How many of these bytes were passed on.
    from: usize,
    /// Bytes read of the file.
    read: u64,
    next_piece: u64,
}

/// What follows in a file.
enum NextSaid {
    Record(Key, Option<Millis>),
    End,
    /// Nobody knows: a bound is reached, or the file cannot be read.
    Unknown,
}

impl FileHead {
    fn new(path: PathBuf) -> Self {
        Self { path, bytes: Vec::new(), from: 0, read: 0, next_piece: PIECES.0 }
    }

    /// The next record that the person or the model said: others are not always copied.
    fn next_said(&mut self, left: &mut u64) -> NextSaid {
        loop {
            while let Some(length) = memchr(b'\n', self.bytes.get(self.from..).unwrap_or_default()) {
                let line = self.bytes.get(self.from..self.from + length).unwrap_or_default();
                self.from += length + 1;
                if let Some((key, time)) = said_in(line) {
                    return NextSaid::Record(key, time);
                }
            }
            match self.read_on(left) {
                Some(0) => return NextSaid::End,
                Some(_) => {}
                None => return NextSaid::Unknown,
            }
        }
    }

    /// Reads the next piece. Returns how many bytes it has; `None` if it may not be read.
    fn read_on(&mut self, left: &mut u64) -> Option<u64> {
        // Open only while it is read: many files may be compared.
        let medium = ForeignMedium::open(&self.path).ok()?;
        let piece = self.next_piece.min(medium.len().ok()?.saturating_sub(self.read));
        if piece == 0 {
            return Some(0);
        }
        if self.read + piece > MOST_OF_ONE || piece > *left {
            return None;
        }
        self.bytes.drain(..std::mem::take(&mut self.from));
        self.bytes.extend(read_exact_at(&medium, self.read, usize::try_from(piece).ok()?).ok()?);
        self.read += piece;
        *left -= piece;
        self.next_piece = (self.next_piece * 4).min(PIECES.1);
        Some(piece)
    }
}

fn said_in(line: &[u8]) -> Option<(Key, Option<Millis>)> {
    let text = text_of(line);
    let record = ClaudeLine::parse(&text).ok()??;
    let is_said = matches!(record.kind.as_ref(), "user" | "assistant") && !record.is_sidechain;
    Some((Key::of(record.uuid.as_deref().filter(|_| is_said)?), record.time))
}

/// What follows where files part: the oldest first. One that has ended there has nothing of its own, so it was there before.
type RunOrder = (bool, Millis, usize);

/// Files by the runs that they share: they are equal up to a point, and part there.
#[derive(Default)]
struct RunTree {
    nodes: Vec<Vec<RunBranch>>,
    /// Whether the files of the first node share anything.
    has_common_start: bool,
}

#[derive(Clone, Copy)]
enum RunBranch {
    File(usize),
    Node(usize),
}

impl RunTree {
    fn of(heads: &mut [FileHead]) -> Self {
        let mut tree = Self { nodes: vec![Vec::new()], has_common_start: false };
        let mut left = MOST;
        let mut groups = vec![(0, (0..heads.len()).collect::<Vec<usize>>())];
        while let Some((node, group)) = groups.pop() {
            let (mut branches, is_later) = Self::part(heads, group, &mut left);
            tree.has_common_start |= node == 0 && is_later;
            branches.sort_by_key(|(order, _)| *order);
            for (_, members) in branches {
                let branch = match members.as_slice() {
                    [only] => RunBranch::File(*only),
                    _ => {
                        tree.nodes.push(Vec::new());
                        groups.push((tree.nodes.len() - 1, members));
                        RunBranch::Node(tree.nodes.len() - 1)
                    }
                };
                if let Some(branches) = tree.nodes.get_mut(node) {
                    branches.push(branch);
                }
            }
        }
        tree
    }

    /// Reads a group of equal files up to where they part, and whether they were equal any further.
    fn part(heads: &mut [FileHead], mut group: Vec<usize>, left: &mut u64) -> (Vec<(RunOrder, Vec<usize>)>, bool) {
        let mut is_later = false;
        loop {
            let mut ended = Vec::new();
            let mut parts: BTreeMap<Key, (Millis, Vec<usize>)> = BTreeMap::new();
            for at in group {
                let Some(head) = heads.get_mut(at) else { continue };
                match head.next_said(left) {
                    NextSaid::Record(key, time) => {
                        let part = parts.entry(key).or_insert((Millis::MAX, Vec::new()));
                        part.0 = part.0.min(time.unwrap_or(Millis::MAX));
                        part.1.push(at);
                    }
                    NextSaid::End => ended.push(((false, 0, at), vec![at])),
                    NextSaid::Unknown => {}
                }
            }
            if ended.is_empty()
                && parts.len() == 1
                && let Some((_, members)) = parts.values().next().filter(|(_, members)| members.len() > 1)
            {
                (group, is_later) = (members.clone(), true);
                continue;
            }
            let parted = parts.into_values().filter_map(|(time, members)| {
                let first = members.first().copied()?;
                Some(((true, time, first), members))
            });
            return (ended.into_iter().chain(parted).collect(), is_later);
        }
    }

    /// Of each file that comes after another one where they part, the older one.
    fn parents(&self) -> Vec<(usize, usize)> {
        let of_node = |branches: &Vec<RunBranch>| {
            let mut firsts = branches.iter().filter_map(|branch| self.oldest(*branch));
            let parent = firsts.next();
            parent.map(|parent| firsts.map(move |fork| (fork, parent)).collect::<Vec<_>>()).unwrap_or_default()
        };
        // Files of the first node that share nothing are no forks of each other.
        let unrelated = if self.has_common_start { 0 } else { 1 };
        self.nodes.iter().skip(unrelated).flat_map(of_node).collect()
    }

    fn oldest(&self, mut branch: RunBranch) -> Option<usize> {
        loop {
            match branch {
                RunBranch::File(file) => return Some(file),
                RunBranch::Node(node) => branch = *self.nodes.get(node)?.first()?,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::path::Path;

    use super::*;

    /// Writes sessions, each with the names and the seconds of its prompts, and returns who is whose fork.
    fn forks(sessions: &[(&str, &[(&str, u32)])]) -> Vec<(String, String)> {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(format!("{name}.jsonl"));
        for (name, prompts) in sessions {
            let mut text = "{\"type\":\"mode\",\"sessionId\":\"s\"}\n".to_owned();
            for (uuid, second) in *prompts {
                writeln!(
                    text,
                    r#"{{"type":"user","sessionId":"{name}","uuid":"{uuid}","timestamp":"2026-01-01T00:{second:02}:00.000Z","message":{{"content":"x"}}}}
{{"type":"system","uuid":"{uuid}-{name}","message":{{}}}}"#
                )
                .unwrap();
            }
            std::fs::write(file(name), text).unwrap();
        }
        let files: Vec<PathBuf> = sessions.iter().map(|(name, _)| file(name)).collect();
        let stem = |path: &Path| path.file_stem().unwrap().to_string_lossy().into_owned();
        let mut found: Vec<(String, String)> =
            unnamed_forks(&files).iter().map(|(fork, parent)| (stem(fork), stem(parent))).collect();
        found.sort();
        found
    }

    fn pairs(of: &[(&str, &str)]) -> Vec<(String, String)> {
        of.iter().map(|(fork, parent)| ((*fork).to_owned(), (*parent).to_owned())).collect()
    }

    #[test]
    fn the_file_with_the_longest_common_run_is_the_parent() {
        let start = ("a", 1);
        let main: &[(&str, u32)] = &[start, ("b", 2), ("c", 3), ("d", 4)];
        let early: &[(&str, u32)] = &[start, ("b", 2), ("x", 5)];
        let late: &[(&str, u32)] = &[start, ("b", 2), ("c", 3), ("y", 6)];
        let of_early: &[(&str, u32)] = &[start, ("b", 2), ("x", 5), ("z", 7)];
        let other: &[(&str, u32)] = &[("q", 1), ("b", 2)];
        assert_eq!(
            forks(&[("z", main), ("b", early), ("a", late), ("c", of_early), ("0", other)]),
            pairs(&[("a", "z"), ("b", "z"), ("c", "b")])
        );
    }

    #[test]
    fn the_older_own_record_tells_the_parent_from_the_fork() {
        let one: &[(&str, u32)] = &[("a", 1), ("b", 9)];
        let other: &[(&str, u32)] = &[("a", 1), ("c", 8)];
        assert_eq!(forks(&[("one", one), ("other", other)]), pairs(&[("one", "other")]));
        // Who has nothing of its own was there before.
        assert_eq!(forks(&[("one", one), ("other", &one[..1])]), pairs(&[("one", "other")]));
        assert_eq!(forks(&[("one", one), ("two", one), ("alone", &[])]), pairs(&[("two", "one")]));
    }

    #[test]
    fn files_are_read_to_where_they_part_or_to_a_bound() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, own: &str, length: usize| {
            let line = |uuid: &str, length: usize| {
                let text = "x".repeat(length);
                format!(r#"{{"type":"user","uuid":"{uuid}","message":{{"content":"{text}"}}}}"#) + "\n"
            };
            let path = folder.path().join(format!("{name}.jsonl"));
            std::fs::write(&path, line("a", length) + &line(own, 1)).unwrap();
            path
        };
        let near = [file("one", "1", 1 << 20), file("two", "2", 1 << 20)];
        assert_eq!(unnamed_forks(&near), [(near[1].clone(), near[0].clone())]);
        let far = [file("three", "3", 9 << 20), file("four", "4", 9 << 20)];
        assert_eq!(unnamed_forks(&far), []);
        let gone = [folder.path().join("none.jsonl"), near[0].clone(), folder.path().to_path_buf()];
        assert_eq!(unnamed_forks(&gone), []);
    }
}
