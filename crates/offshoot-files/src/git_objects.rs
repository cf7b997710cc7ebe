//! Contents that a git repository has already: what its index says of files, and its objects, loose or packed, read from git's files. Runs no
//! git and writes nothing. The files may be anybody's: sizes are bounded, and an object is used only if it has the name that was asked for.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use flate2::read::ZlibDecoder;
use offshoot_session::medium::{open_regular, read_regular, read_regular_text};

use crate::git_id::{GitForm, GitId};
use crate::git_place::GitPlace;

const LONGEST_INDEX: u64 = 128 << 20;
const MOST_PACKS: usize = 1000;
const LONGEST_ALTERNATES: u64 = 64 << 10;
/// Folders of objects, with those that are borrowed.
const MOST_ALTERNATES: usize = 32;
/// The lists of packs are held while a folder is recorded; packs beyond this are not looked into.
const LARGEST_LISTS: u64 = 512 << 20;
/// Longer paths are none that a system has.
const LONGEST_PATH: usize = 4096;
/// git makes no longer chains.
const LONGEST_CHAIN: usize = 4096;
/// Each base that is named, not counted back, is another search through all packs.
const MOST_NAMED_BASES: usize = 64;
/// The deltas of a chain are held together; so many times the limit of a file.
const DELTAS: u64 = 4;
const REGULAR: u32 = 0o100_000;
const KIND: u32 = 0o170_000;

/// The objects of a repository.
#[derive(Debug)]
pub(crate) struct GitObjects {
    /// The folder `objects`, and those from which it borrows.
    folders: Vec<PathBuf>,
    form: GitForm,
    packs: Vec<Pack>,
    /// A larger object is not read.
    limit: u64,
}

/// The index of a repository, for the files below a folder.
#[derive(Debug, Default)]
pub(crate) struct GitIndex {
    form: GitForm,
    files: HashMap<Vec<u8>, GitId>,
}

#[derive(Debug)]
struct Pack {
    /// The file `.idx`, whole.
    index: Vec<u8>,
    path: PathBuf,
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn size_of(number: u32) -> Option<usize> {
    usize::try_from(number).ok()
}

impl GitIndex {
    /// The regular files below a folder that git tracks; empty outside of git, and if the index is of a form that is not known.
    pub(crate) fn read(root: &Path) -> Self {
        Self::find(root).unwrap_or_default()
    }

    fn find(root: &Path) -> Option<Self> {
        let GitPlace { top, own, common } = GitPlace::of(root)?;
        let mut below = root.strip_prefix(&top).ok()?.as_os_str().as_bytes().to_vec();
        if !below.is_empty() {
            below.push(b'/');
        }
        Self::parse(&read_regular(&own.join("index"), LONGEST_INDEX).ok()?, &below, GitForm::of(&common)?)
    }

    fn parse(bytes: &[u8], below: &[u8], form: GitForm) -> Option<Self> {
        let (version, count) = (number(bytes, 4)?, size_of(number(bytes, 8)?)?);
        if bytes.get(..4)? != b"DIRC" || !(2..=4).contains(&version) {
            return None;
        }
        let (mut at, mut name, mut files) = (12, Vec::new(), HashMap::new());
        for _ in 0..count {
            let mode = number(bytes, at + 24)?;
            let id = GitId::read(bytes.get(at + 40..)?, form)?;
            let after = at + 40 + form.length();
            let flags = u16::from_be_bytes(bytes.get(after..after + 2)?.try_into().ok()?);
            let start = after + if version >= 3 && flags & 0x4000 != 0 { 4 } else { 2 };
            let (dropped, start) = if version == 4 { varint(bytes, start)? } else { (name.len(), start) };
            name.truncate(name.len().checked_sub(dropped)?);
            let rest = bytes.get(start..)?;
            let length = rest.iter().position(|byte| *byte == 0)?;
            if name.len() + length > LONGEST_PATH {
                return None;
            }
            name.extend_from_slice(rest.get(..length)?);
            // Names end with one zero byte, or with up to eight.
            at = if version == 4 { start + length + 1 } else { at + ((start - at + length + 8) & !7) };
            let is_merged = flags & 0x3000 == 0;
            if let Some(path) = name.strip_prefix(below).filter(|_| is_merged && mode & KIND == REGULAR) {
                files.insert(path.to_vec(), id);
            }
        }
        Some(Self { form, files })
    }

    /// The object of a file.
    pub(crate) fn id(&self, path: &Path) -> Option<GitId> {
        self.files.get(path.as_os_str().as_bytes()).copied()
    }

    /// The name that the repository gives to a content.
    pub(crate) fn id_of(&self, content: &[u8]) -> GitId {
        GitId::of(content, self.form)
    }
}

/// A number in seven bits a byte, as version 4 of the index and deltas to an offset have it, with the place after it.
fn varint(bytes: &[u8], mut at: usize) -> Option<(usize, usize)> {
    let mut value: usize = 0;
    loop {
        let byte = *bytes.get(at)?;
        value = value.checked_shl(7)?.checked_add(usize::from(byte & 0x7f))?;
        at += 1;
        if byte & 0x80 == 0 {
            return Some((value, at));
        }
        value = value.checked_add(1)?;
        if value > usize::MAX >> 8 {
            return None;
        }
    }
}

impl GitObjects {
    /// The objects of the repository of a folder; `None` outside of git, and if they have names of another kind.
    pub(crate) fn open(root: &Path, limit: u64) -> Option<Self> {
        let common = GitPlace::of(root)?.common;
        let form = GitForm::of(&common)?;
        let folders = borrowed(common.join("objects"));
        let packs = folders.iter().flat_map(|folder| fs::read_dir(folder.join("pack"))).flatten();
        let paths = packs.filter_map(Result::ok).map(|entry| entry.path());
        let paths = paths.filter(|path| path.extension().is_some_and(|end| end == "idx"));
        let mut room = LARGEST_LISTS;
        let packs = paths.take(MOST_PACKS).filter_map(|path| {
            let index = read_regular(&path, LONGEST_INDEX.min(room)).ok()?;
            room = room.saturating_sub(u64::try_from(index.len()).unwrap_or(u64::MAX));
            (index.get(..8)? == b"\xfftOc\0\0\0\x02").then(|| Pack { index, path: path.with_extension("pack") })
        });
        Some(Self { packs: packs.collect(), folders, form, limit })
    }

    /// Whether there is such an object.
    pub(crate) fn has(&self, id: &GitId) -> bool {
        self.packs.iter().any(|pack| pack.offset(id).is_some()) || self.loose(id).any(|path| path.is_file())
    }

    /// The content of a file; `None` if it is not there, is no file's, or is not what it is named.
    pub(crate) fn content(&self, id: &GitId) -> Option<Vec<u8>> {
        let found = self.loose_content(id).or_else(|| self.packed(id, 0).map(|(_, bytes)| bytes))?;
        (GitId::of(&found, self.form) == *id).then_some(found)
    }

    fn loose(&self, id: &GitId) -> impl Iterator<Item = PathBuf> {
        let name: String = id.bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        self.folders.iter().map(move |folder| {
            let (group, rest) = name.split_at(2);
            folder.join(group).join(rest)
        })
    }

    fn loose_content(&self, id: &GitId) -> Option<Vec<u8>> {
        let mut file = ZlibDecoder::new(self.loose(id).find_map(|path| open_regular(&path).ok())?)
            .take(self.limit.saturating_add(64));
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).ok()?;
        let head = bytes.iter().take(64).position(|byte| *byte == 0)?;
        let is_file = bytes.starts_with(b"blob ");
        is_file.then(|| bytes.split_off(head + 1))
    }

    fn packed(&self, id: &GitId, named: usize) -> Option<(u8, Vec<u8>)> {
        let (pack, offset) = self.packs.iter().find_map(|pack| Some((pack, pack.offset(id)?)))?;
        self.read(&open_regular(&pack.path).ok()?, offset, named)
    }

    /// The object at a place of a pack: its kind, and its bytes. Deltas are applied to what they are made of. `named` bases were
    /// looked up on the way here.
    fn read(&self, pack: &File, offset: u64, named: usize) -> Option<(u8, Vec<u8>)> {
        let (mut deltas, mut at) = (Vec::new(), offset);
        let mut room = self.limit.saturating_mul(DELTAS);
        let (kind, mut bytes) = loop {
            if deltas.len() > LONGEST_CHAIN {
                return None;
            }
            let head = head(pack, at)?;
            let (kind, size, mut used) = kind_and_size(&head)?;
            if size > self.limit {
                return None;
            }
            if matches!(kind, 6 | 7) {
                room = room.checked_sub(size)?;
            }
            match kind {
                1..=4 => break (kind, inflate(pack, at + used, size)?),
                6 => {
                    let start = usize::try_from(used).ok()?;
                    let (back, end) = varint(&head, start)?;
                    used = u64::try_from(end).ok()?;
                    deltas.push(inflate(pack, at + used, size)?);
                    at = at.checked_sub(u64::try_from(back).ok()?).filter(|base| *base < at)?;
                }
                7 => {
                    let start = usize::try_from(used).ok()?;
                    let base = GitId::read(head.get(start..)?, self.form)?;
                    let length = u64::try_from(self.form.length()).ok()?;
                    deltas.push(inflate(pack, at + used + length, size)?);
                    break self.packed(&base, Some(named + 1).filter(|named| *named <= MOST_NAMED_BASES)?)?;
                }
                _ => return None,
            }
        };
        while let Some(delta) = deltas.pop() {
            bytes = apply(&bytes, &delta, self.limit)?;
        }
        Some((kind, bytes))
    }
}

/// A folder of objects, and those from which it borrows, as `info/alternates` says in each of them.
fn borrowed(own: PathBuf) -> Vec<PathBuf> {
    let (mut folders, mut read) = (vec![own], 0);
    while let Some(folder) = folders.get(read).cloned() {
        read += 1;
        let named = read_regular_text(&folder.join("info/alternates"), LONGEST_ALTERNATES).unwrap_or_default();
        // A path in quotes contains escaped bytes. Its folder is not searched.
        for path in named.lines().filter(|line| !line.is_empty() && !line.starts_with(['#', '"'])) {
            let path = folder.join(path);
            if folders.len() < MOST_ALTERNATES && !folders.contains(&path) {
                folders.push(path);
            }
        }
    }
    folders
}

/// The first bytes of an object, enough for its head.
fn head(pack: &File, at: u64) -> Option<Vec<u8>> {
    let mut bytes = vec![0; 64];
    let read = pack.read_at(&mut bytes, at).ok()?;
    bytes.truncate(read);
    Some(bytes)
}

/// The kind of an object, its size, and how long that is.
fn kind_and_size(head: &[u8]) -> Option<(u8, u64, u64)> {
    let first = *head.first()?;
    let (mut size, mut shift, mut at) = (u64::from(first & 0x0f), 4_u32, 1);
    let mut byte = first;
    while byte & 0x80 != 0 {
        byte = *head.get(at)?;
        size |= u64::from(byte & 0x7f).checked_shl(shift).filter(|_| shift < 57)?;
        (shift, at) = (shift + 7, at + 1);
    }
    Some(((first >> 4) & 7, size, u64::try_from(at).ok()?))
}

fn inflate(pack: &File, at: u64, size: u64) -> Option<Vec<u8>> {
    struct From<'a>(&'a File, u64);
    impl Read for From<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let read = self.0.read_at(buffer, self.1)?;
            self.1 += u64::try_from(read).unwrap_or_default();
            Ok(read)
        }
    }
    let mut bytes = Vec::new();
    ZlibDecoder::new(From(pack, at)).take(size.saturating_add(1)).read_to_end(&mut bytes).ok()?;
    (u64::try_from(bytes.len()) == Ok(size)).then_some(bytes)
}

/// What a delta makes of a content.
fn apply(base: &[u8], delta: &[u8], limit: u64) -> Option<Vec<u8>> {
    let mut at = 0;
    let mut sized = || {
        let (mut size, mut shift) = (0_usize, 0);
        loop {
            let byte = *delta.get(at)?;
            size |= usize::from(byte & 0x7f).checked_shl(shift).filter(|_| shift < 57)?;
            (at, shift) = (at + 1, shift + 7);
            if byte & 0x80 == 0 {
                return Some(size);
            }
        }
    };
    let (from, to) = (sized()?, sized()?);
    if from != base.len() || u64::try_from(to).ok()? > limit {
        return None;
    }
    let mut made = Vec::with_capacity(to);
    while let Some(order) = delta.get(at).copied() {
        at += 1;
        if order & 0x80 == 0 {
            // Bytes of its own; an order of zero is not known.
            let end = at + usize::from(order);
            made.extend_from_slice(delta.get(at..end).filter(|own| !own.is_empty())?);
            at = end;
        } else {
            let mut field = |bits: std::ops::Range<u32>| {
                let mut value = 0_usize;
                for (shift, bit) in bits.enumerate() {
                    if order & (1 << bit) != 0 {
                        value |= usize::from(*delta.get(at)?) << (8 * shift);
                        at += 1;
                    }
                }
                Some(value)
            };
            let (start, length) = (field(0..4)?, field(4..7)?);
            let length = if length == 0 { 0x1_0000 } else { length };
            made.extend_from_slice(base.get(start..start.checked_add(length)?)?);
        }
        if made.len() > to {
            return None;
        }
    }
    (made.len() == to).then_some(made)
}

impl Pack {
    /// Where an object is in the pack.
    fn offset(&self, id: &GitId) -> Option<u64> {
        let fan = |byte: usize| size_of(number(&self.index, 8 + 4 * byte)?);
        let (name, length) = (id.bytes(), id.bytes().len());
        let first = usize::from(*name.first()?);
        let (mut low, mut high) = (first.checked_sub(1).map_or(Some(0), fan)?, fan(first)?);
        let count = fan(255)?;
        let names = 8 + 4 * 256;
        let at = loop {
            if low >= high {
                return None;
            }
            let middle = low.midpoint(high);
            let found = self.index.get(names + length * middle..names + length * (middle + 1))?;
            match found.cmp(name) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => break middle,
            }
        };
        let offsets = names + (length + 4) * count;
        let small = number(&self.index, offsets + 4 * at)?;
        if small & 0x8000_0000 == 0 {
            return Some(u64::from(small));
        }
        let large = offsets + 4 * count + 8 * size_of(small & 0x7fff_ffff)?;
        Some(u64::from_be_bytes(self.index.get(large..large + 8)?.try_into().ok()?))
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn git(root: &Path, words: &[&str]) {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.autocrlf=false"]).args(words);
        let output = command.current_dir(root).env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Files with versions that a pack stores as deltas, in each form of the index.
    #[test]
    fn what_git_tracks_is_read_from_loose_objects_and_from_packs() {
        if Command::new("git").arg("--version").output().is_err() {
            return;
        }
        ["sha1", "sha256"].into_iter().for_each(reads_what_git_tracks);
    }

    fn reads_what_git_tracks(form: &str) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        git(root, &["init", "-q", &format!("--object-format={form}")]);
        let text =
            |version: usize| (0..3000).map(|line| format!("{line} {}\n", line % (version + 7))).collect::<String>();
        fs::create_dir_all(root.join("sub/deep")).unwrap();
        for version in 0..5 {
            fs::write(root.join("sub/deep/large"), text(version)).unwrap();
            fs::write(root.join("small"), format!("version {version}\n")).unwrap();
            fs::write(root.join("sub/empty"), "").unwrap();
            std::os::unix::fs::symlink("small", root.join(format!("link{version}"))).unwrap();
            git(root, &["add", "."]);
            git(root, &["commit", "-qm", "x"]);
        }
        for form in [
            &["update-index", "--index-version", "2"][..],
            &["update-index", "--index-version", "4"],
            &["repack", "-qad"],
        ] {
            git(root, form);
            for below in ["", "sub"] {
                let at = root.join(below);
                let (index, objects) = (GitIndex::read(&at), GitObjects::open(&at, 1 << 20).unwrap());
                let (path, expected) =
                    if below.is_empty() { ("sub/deep/large", text(4)) } else { ("deep/large", text(4)) };
                let id = index.id(Path::new(path)).unwrap();
                assert_eq!(index.id_of(expected.as_bytes()), id);
                assert!(objects.has(&id));
                assert_eq!(objects.content(&id).unwrap(), expected.as_bytes());
                assert_eq!(index.id(Path::new("link0")), None, "a link is no file");
                assert_eq!(
                    objects
                        .content(&index.id(Path::new(if below.is_empty() { "sub/empty" } else { "empty" })).unwrap())
                        .unwrap(),
                    b""
                );
            }
        }
        let objects = GitObjects::open(root, 1 << 20).unwrap();
        // Older versions are deltas of the newest one.
        for version in 0..5 {
            assert_eq!(
                objects.content(&GitIndex::read(root).id_of(text(version).as_bytes())).unwrap(),
                text(version).as_bytes()
            );
        }
        let id_of = |content: &[u8]| GitIndex::read(root).id_of(content);
        let (never, first, third) = (id_of(b"never"), id_of(text(0).as_bytes()), id_of(text(2).as_bytes()));
        assert!(!objects.has(&never) && objects.content(&never).is_none());
        // One that is larger than the bound is not read.
        assert!(GitObjects::open(root, 1000).unwrap().content(&first).is_none());
        // A clone that borrows them, and one that borrows from that one by a path of its own.
        let (second, third_place) = (root.join("borrows"), root.join("borrows-again"));
        git(root, &["clone", "-q", "--shared", ".", "borrows"]);
        git(root, &["clone", "-q", "--shared", "borrows", "borrows-again"]);
        fs::write(third_place.join(".git/objects/info/alternates"), "# a note\n../../../borrows/.git/objects\n")
            .unwrap();
        for place in [&second, &third_place] {
            let objects = GitObjects::open(place, 1 << 20).unwrap();
            let id = GitIndex::read(place).id(Path::new("sub/deep/large")).unwrap();
            assert!(objects.has(&id));
            assert_eq!(objects.content(&id).unwrap(), text(4).as_bytes(), "{form} {}", place.display());
        }
        // Folders that borrow from each other end, and one that is gone says nothing.
        fs::write(root.join(".git/objects/info/alternates"), "../../borrows-again/.git/objects\n/nowhere\n").unwrap();
        assert_eq!(GitObjects::open(&second, 1 << 20).unwrap().content(&third).unwrap(), text(2).as_bytes());
        fs::remove_file(root.join(".git/objects/info/alternates")).unwrap();
        // Damaged files say nothing.
        let pack = fs::read_dir(root.join(".git/objects/pack")).unwrap().map(|entry| entry.unwrap().path());
        for path in pack.chain([root.join(".git/index")]) {
            let bytes = fs::read(&path).unwrap();
            fs::remove_file(&path).unwrap();
            for at in (0..bytes.len()).step_by(bytes.len() / 40 + 1) {
                let damaged: Vec<u8> =
                    bytes.iter().enumerate().map(|(i, byte)| if i == at { !byte } else { *byte }).collect();
                fs::write(&path, if at % 2 == 0 { &damaged } else { &bytes[..at] }).unwrap();
                let (index, objects) = (GitIndex::read(root), GitObjects::open(root, 1 << 20).unwrap());
                drop(index);
                assert!(objects.content(&third).is_none_or(|content| content == text(2).as_bytes()));
                fs::remove_file(&path).unwrap();
            }
            fs::write(&path, bytes).unwrap();
        }
    }

    /// A pack with one delta for itself, and a list that names it: both as anybody can write them.
    #[test]
    fn a_pack_that_leads_back_to_itself_and_paths_without_end_say_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join(".git/objects/pack");
        fs::create_dir_all(&folder).unwrap();
        let id = GitId::of(b"x", GitForm::Sha1);
        let mut object = vec![(7 << 4) | 4];
        object.extend(id.bytes());
        let mut deflated = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        std::io::Write::write_all(&mut deflated, &[1, 1, 1, b'x']).unwrap();
        object.extend(deflated.finish().unwrap());
        let mut list = b"\xfftOc\0\0\0\x02".to_vec();
        (0..256_u32).for_each(|byte| list.extend(u32::from(byte >= u32::from(id.bytes()[0])).to_be_bytes()));
        list.extend(id.bytes());
        list.extend([0; 8]);
        fs::write(folder.join("a.idx"), list).unwrap();
        fs::write(folder.join("a.pack"), object).unwrap();
        let objects = GitObjects::open(dir.path(), 1 << 20).unwrap();
        assert!(objects.has(&id));
        assert_eq!(objects.content(&id), None);

        // Version 4 of the index: each name keeps the one before it and makes it longer.
        let mut index = b"DIRC\0\0\0\x04\0\0\x10\0".to_vec();
        for _ in 0..4096 {
            index.extend([0; 24]);
            index.extend(0o100_644_u32.to_be_bytes());
            index.extend([0; 12 + 20 + 2]);
            index.push(0);
            index.extend([b'n'; 100]);
            index.push(0);
        }
        assert!(GitIndex::parse(&index, b"", GitForm::Sha1).is_none());
    }
}
