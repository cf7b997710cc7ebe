//! What opening has learnt, as bytes: everything of [`Loaded`] but the header, which is read from the file itself.

use super::bytes::{Reader, Writer};
use crate::error::{Code, Diagnostic};
use crate::header::{Dialect, Header, TitleSlot};
use crate::id::EntryId;
use crate::load::{End, Loaded};
use crate::medium::{Medium, read_exact_at};
use crate::tree::{Label, NodeIx, Tree, stored::StoredNode};

const NONE: u32 = u32::MAX;

pub(super) fn write(writer: &mut Writer, loaded: &Loaded) {
    let (offset, length) = loaded.header_span;
    writer.number(offset);
    writer.number(length);
    writer.byte(match loaded.dialect {
        None => 0,
        Some(Dialect::Pi) => 1,
        Some(Dialect::Omp) => 2,
    });
    writer.short(loaded.last_session_info.map_or(NONE, |ix| ix.index() as u32));
    writer.number(loaded.end.length);
    writer.number(loaded.end.lines);
    writer.short(loaded.diagnostics.len() as u32);
    for diagnostic in &loaded.diagnostics {
        writer.text(diagnostic.code.as_str());
        writer.number(diagnostic.line.unwrap_or(0));
        writer.number(diagnostic.offset);
        writer.optional(diagnostic.entry.as_ref().map(EntryId::as_str));
        writer.text(&diagnostic.message);
    }
    let labels = loaded.tree.labels();
    writer.short(labels.len() as u32);
    for (target, label) in labels {
        writer.text(target.as_str());
        writer.text(&label.text);
        writer.optional(label.timestamp.as_deref());
    }
    let nodes = loaded.tree.stored();
    writer.short(nodes.len() as u32);
    for node in nodes {
        writer.optional(node.id);
        writer.number(node.offset);
        writer.number(node.length);
        writer.number(node.time.cast_unsigned());
        writer.short(node.parent);
        writer.short(node.line);
        writer.byte(node.kind);
        writer.byte(node.role);
        writer.byte(node.flags);
        if node.parent == NONE {
            writer.optional(node.missing_parent);
        }
    }
}

pub(super) fn read(reader: &mut Reader<'_>, medium: &dyn Medium) -> Option<Loaded> {
    let header_span = (reader.number()?, reader.number()?);
    let dialect = match reader.byte()? {
        0 => None,
        1 => Some(Dialect::Pi),
        _ => Some(Dialect::Omp),
    };
    let last_session_info = reader.short()?;
    let end = End { length: reader.number()?, lines: reader.number()?, terminated: true };
    let diagnostics = (0..reader.short()?).map(|_| diagnostic(reader)).collect::<Option<Vec<_>>>()?;
    let labels = (0..reader.short()?).map(|_| label(reader)).collect::<Option<Vec<_>>>()?;
    let count = reader.short()?;
    let mut tree = Tree::from_stored((0..count).map(|_| node(reader)), count as usize)?;
    labels.into_iter().for_each(|(target, label)| tree.set_label(target, Some(label)));
    let line = |offset, length| {
        let bytes = read_exact_at(medium, offset, usize::try_from(length).ok()?).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    let slot_length = TitleSlot::LENGTH as u64;
    let slot = if header_span.0 >= slot_length { TitleSlot::parse(&line(0, slot_length - 1)?) } else { None };
    Some(Loaded {
        header: Some(Header::parse(&line(header_span.0, header_span.1)?)?),
        header_span,
        slot,
        last_session_info: NodeIx::stored(last_session_info).filter(|ix| ix.index() < count as usize),
        tree,
        diagnostics,
        dialect,
        end,
        ..Loaded::default()
    })
}

fn diagnostic(reader: &mut Reader<'_>) -> Option<Diagnostic> {
    let name = reader.text()?;
    Some(Diagnostic {
        code: *Code::ALL.iter().find(|code| code.as_str() == name)?,
        line: Some(reader.number()?).filter(|line| *line > 0),
        offset: reader.number()?,
        entry: reader.optional()?.map(EntryId::new),
        message: reader.text()?.to_owned(),
    })
}

fn label(reader: &mut Reader<'_>) -> Option<(EntryId, Label)> {
    let target = EntryId::new(reader.text()?);
    let text = reader.text()?.to_owned();
    Some((target, Label { text, timestamp: reader.optional()?.map(str::to_owned) }))
}

fn node<'a>(reader: &mut Reader<'a>) -> Option<StoredNode<'a>> {
    let mut node = StoredNode {
        id: reader.optional()?,
        offset: reader.number()?,
        length: reader.number()?,
        time: reader.number()?.cast_signed(),
        parent: reader.short()?,
        line: reader.short()?,
        kind: reader.byte()?,
        role: reader.byte()?,
        flags: reader.byte()?,
        missing_parent: None,
    };
    if node.parent == NONE {
        node.missing_parent = reader.optional()?;
    }
    Some(node)
}
