//! Copies of the sessions of children beside a copy of their parent's. Only the header's name of the parent is new in them; their other
//! bytes are those of the originals.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;

use super::{ChildInfo, ChildList};
use crate::child::{child_file, children_folder};
use crate::entry::Source as _;
use crate::error::{Error, Result};
use crate::json::{Json, quote};
use crate::medium::{create_regular, open_regular};
use crate::session::{Session, SessionPart};
use crate::tree::Tree;

/// A longer first line is not that of a session.
const LONGEST_HEADER: u64 = 1 << 20;

impl ChildList {
    /// Those that a part of the parent's session has started, with their own children. Those of whom nothing says which entry it was
    /// belong to the whole alone.
    pub fn of_part<'a>(&'a self, tree: &'a Tree, part: SessionPart) -> impl Iterator<Item = &'a ChildInfo> {
        let is_in = move |child: &&ChildInfo| {
            let id = child.id.split('.').next().unwrap_or_default();
            let first = self.children.iter().find(|other| other.id == id);
            let call = first.and_then(|first| first.parent_entry.as_deref()).and_then(|entry| tree.find(entry));
            match part {
                SessionPart::Everything => true,
                SessionPart::Path(leaf) => call.is_some_and(|ix| tree.ancestors(leaf).any(|above| above == ix)),
                SessionPart::Subtree(top) => call.is_some_and(|ix| tree.ancestors(ix).any(|above| above == top)),
            }
        };
        self.children.iter().filter(is_in)
    }
}

/// Copies the sessions of the children that a part has started to the folder beside a copy of that part. Returns how many.
///
/// # Errors
/// [`Error::Io`]: one cannot be read or written, or its copy exists. The copies before it stay.
pub fn carry_children(session: &Session, part: SessionPart, copy: &Path) -> Result<usize> {
    let Some(file) = session.file() else { return Ok(0) };
    let list = ChildList::of(file)?;
    let (mut count, folder) = (0, children_folder(copy));
    for child in list.of_part(session.tree(), part) {
        if count == 0 {
            fs::create_dir_all(&folder).map_err(Error::io("create folder", &folder))?;
        }
        let to = child_file(&folder, &child.id);
        copy_child(&child.file, &to, copy).map_err(Error::io("copy a child to", &to))?;
        count += 1;
    }
    Ok(count)
}

/// Copies a file line by line up to its header, which gets another parent, and then byte by byte.
fn copy_child(from: &Path, to: &Path, parent: &Path) -> std::io::Result<()> {
    let mut source = BufReader::new(open_regular(from)?);
    let mut copy = create_regular(to)?;
    // A title may be before the header.
    for _ in 0..2 {
        let mut line = Vec::new();
        std::io::Read::take(&mut source, LONGEST_HEADER).read_until(b'\n', &mut line)?;
        let header = std::str::from_utf8(&line).ok().and_then(|line| with_parent(line, parent));
        copy.write_all(header.as_deref().map_or(&line[..], str::as_bytes))?;
        if header.is_some() {
            break;
        }
    }
    std::io::copy(&mut source, &mut copy)?;
    copy.sync_all()
}

/// A header with another parent; `None` if the line is none.
fn with_parent(line: &str, parent: &Path) -> Option<String> {
    let json = Json::parse(line.trim_end()).ok()?;
    (json.str("type")? == "session").then_some(())?;
    let old = json.get("parentSession")?.text();
    let at = old.as_ptr() as usize - line.as_ptr() as usize;
    let (before, rest) = line.split_at_checked(at)?;
    Some(format!("{before}{}{}", quote(&parent.to_string_lossy()), rest.get(old.len()..)?))
}
