//! Compares two branches: where they part, and what only each of them has.

use crate::clock::{Millis, took};
use crate::entry::Source;
use crate::error::Result;
use crate::facts::Totals;
use crate::files::{FileLists, FileUse, Files};
use crate::gather;
use crate::in_order::{batches, made_in_order};
use crate::json::Json;
use crate::kind::{KindSpeech, Role};
use crate::stats;
use crate::tree::reader::NodeReader;
use crate::tree::{Node, NodeIx};

#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names of the others say what they are")]
pub struct Side {
    /// The branch is the path to this entry.
    pub tip: NodeIx,
    /// The entries that are not on the other path, from the top, without leaf markers.
    pub entries: Vec<NodeIx>,
    pub totals: Totals,
    /// The last words of the user or the model in the entries.
    pub last_words: Option<String>,
    /// The earliest time of the entries.
    pub oldest: Option<Millis>,
    /// The latest time of the entries.
    pub newest: Option<Millis>,
    /// The user's messages.
    pub turns: usize,
    /// The models that answered, as `provider/id`, in the order of their first answers; found as the files are.
    pub models: Vec<String>,
    files: Files,
    read: usize,
}

/// Two compared branches.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// The last shared entry; `None` if the branches have different roots.
    pub ancestor: Option<NodeIx>,
    /// What only the first branch has, and what only the second has.
    pub sides: [Side; 2],
}

impl Comparison {
    /// Compares the paths to two entries. Reads bodies only for the last words; [`Self::work`] reads the others.
    ///
    /// # Errors
    /// The medium cannot be read.
    pub fn new(source: &dyn Source, first: NodeIx, second: NodeIx) -> Result<Self> {
        let tree = source.tree();
        let ancestor = tree.common_ancestor(first, second);
        Ok(Self { ancestor, sides: [Side::new(source, ancestor, first)?, Side::new(source, ancestor, second)?] })
    }

    /// Reads about `budget` more bytes to find files. Returns whether there is more to read.
    ///
    /// # Errors
    /// The medium cannot be read.
    pub fn work(&mut self, source: &dyn Source, budget: usize) -> Result<bool> {
        let mut left = budget;
        for side in &mut self.sides {
            side.work(source, &mut left)?;
        }
        Ok(self.sides.iter().any(|side| !side.is_read()))
    }

    /// Reads all that is left to find files, on all cores.
    ///
    /// # Errors
    /// The medium cannot be read.
    pub fn finish(&mut self, source: &dyn Source) -> Result<()> {
        self.sides.iter_mut().try_for_each(|side| side.work_on_all_cores(source))
    }
}

impl Side {
    fn new(source: &dyn Source, ancestor: Option<NodeIx>, tip: NodeIx) -> Result<Self> {
        let tree = source.tree();
        let facts = gather::of(source)?;
        let own = tree.ancestors(tip).take_while(|ix| Some(*ix) != ancestor);
        let mut entries: Vec<NodeIx> = own.filter(|ix| !tree.node(*ix).is_leaf_marker()).collect();
        let mut last_words = None;
        for ix in entries.iter().filter(|ix| stats::may_speak(source, **ix)) {
            last_words = stats::words(&source.entry(*ix)?);
            if last_words.is_some() {
                break;
            }
        }
        entries.reverse();
        let mut totals = Totals::default();
        entries.iter().for_each(|ix| totals.add(&facts.of(*ix, tree.node(*ix))));
        let is_prompt = |ix: &&NodeIx| tree.node(**ix).role() == Some(Role::User);
        let turns = entries.iter().filter(is_prompt).count();
        let times = || entries.iter().filter_map(|ix| tree.node(*ix).time());
        let (oldest, newest) = (times().min(), times().max());
        tree.whole(Self {
            tip,
            entries,
            totals,
            last_words,
            oldest,
            newest,
            turns,
            models: Vec::new(),
            files: Files::default(),
            read: 0,
        })
    }

    /// The time from the first entry to the last, in words; `None` if it is short.
    pub fn took(&self) -> Option<String> {
        let (oldest, newest) = self.oldest.zip(self.newest)?;
        took(newest - oldest)
    }

    /// The files that were read and changed, as found so far.
    pub fn files(&self) -> FileLists {
        self.files.lists()
    }

    /// How often each file was read and changed, as found so far.
    pub fn file_uses(&self) -> Vec<FileUse> {
        self.files.uses()
    }

    /// Whether everything that may name files was read.
    pub fn is_read(&self) -> bool {
        self.read >= self.entries.len()
    }

    fn work(&mut self, source: &dyn Source, left: &mut usize) -> Result<()> {
        while let Some(ix) = self.entries.get(self.read).filter(|_| *left > 0) {
            let node = source.tree().node(*ix);
            let cost = if Named::may_be_in(node) { node.length() } else { 1 };
            *left = left.saturating_sub(usize::try_from(cost).unwrap_or(usize::MAX));
            self.take(Named::of(source, *ix)?);
            self.read += 1;
        }
        Ok(())
    }

    fn work_on_all_cores(&mut self, source: &dyn Source) -> Result<()> {
        let nodes = NodeReader::new(source.tree());
        let rest = self.entries.get(self.read..).unwrap_or_default();
        let named: Vec<NodeIx> = rest.iter().copied().filter(|ix| nodes.look(*ix, Named::may_be_in)).collect();
        let parts = batches(named.iter().map(|ix| nodes.look(*ix, Node::length)));
        let make = |at: usize| named.get(at).map_or_else(|| Ok(Named::default()), |ix| Named::of(source, *ix));
        made_in_order(&parts, make, |_, named| {
            self.take(std::mem::take(named));
            Ok(())
        })?;
        self.read = self.entries.len();
        Ok(())
    }

    fn take(&mut self, named: Named) {
        self.files.extend(named.files);
        self.models.extend(named.model.filter(|model| !self.models.contains(model)));
    }
}

/// What an entry names.
#[derive(Debug, Default)]
struct Named {
    files: Files,
    model: Option<String>,
}

impl Named {
    fn may_be_in(node: &Node) -> bool {
        match node.kind().speech() {
            KindSpeech::Message => node.role() == Some(Role::Assistant),
            KindSpeech::BranchSummary | KindSpeech::Compaction => true,
            KindSpeech::CustomMessage | KindSpeech::Nothing => false,
        }
    }

    fn of(source: &dyn Source, ix: NodeIx) -> Result<Self> {
        let mut named = Self::default();
        if !Self::may_be_in(source.tree().node(ix)) {
            return Ok(named);
        }
        let entry = source.entry(ix)?;
        if entry.kind.speech() == KindSpeech::Message {
            named.files.take_calls_of(&entry);
            let word = |name: &str| entry.of_message(name).and_then(Json::as_str);
            let model = word("provider").zip(word("model"));
            named.model = model.map(|(provider, id)| format!("{provider}/{id}"));
        } else {
            named.files.take_summary(entry.json());
        }
        Ok(named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{Options, Session};

    #[test]
    fn each_side_holds_what_the_other_does_not() {
        let message = |id: &str, parent: &str, at: u32, message: &str| {
            format!(
                r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-01-01T00:00:0{at}.000Z","message":{message}}}"#
            )
        };
        let turn = |name: &str, path: &str, said: &str| {
            format!(
                r#"{{"role":"assistant","content":[{{"type":"text","text":"{said}"}},{{"type":"toolCall","id":"1","name":"{name}","arguments":{{"path":"{path}"}}}}],"usage":{{"totalTokens":7,"cost":{{"total":0.25}}}}}}"#
            )
        };
        let lines = [
            r#"{"type":"session","version":3,"id":"s"}"#.to_owned(),
            message("a", "null", 1, r#"{"role":"user","content":"why?"}"#),
            message("b", r#""a""#, 2, &turn("read", "x.rs", "this way")),
            message("c", r#""b""#, 3, &turn("edit", "y.rs", "done")),
            message("d", r#""a""#, 4, &turn("read", "z.rs", "that way")),
            r#"{"type":"custom","customType":"offshoot.leaf","id":"m","parentId":"d","timestamp":"t"}"#.to_owned(),
            message("r", "null", 5, r#"{"role":"user","content":"another root"}"#),
        ];
        let session = Session::from_text(&(lines.join("\n") + "\n"), Options::default()).unwrap();
        let ix = |id: &str| session.tree().find(id).unwrap();

        let mut compared = Comparison::new(&session, ix("c"), ix("m")).unwrap();
        assert_eq!(compared.ancestor, Some(ix("a")));
        while compared.work(&session, 1).unwrap() {}
        let [left, right] = &compared.sides;
        assert_eq!(
            (left.entries.as_slice(), right.entries.as_slice()),
            ([ix("b"), ix("c")].as_slice(), [ix("d")].as_slice())
        );
        assert_eq!((left.totals.entries, left.totals.tokens, left.totals.cost), (2, 14, 0.5));
        assert_eq!((left.last_words.as_deref(), right.last_words.as_deref()), (Some("done"), Some("that way")));
        assert_eq!((left.files().read, left.files().modified), (vec!["x.rs".to_owned()], vec!["y.rs".to_owned()]));
        let mut at_once = Comparison::new(&session, ix("c"), ix("m")).unwrap();
        assert!(at_once.work(&session, 1).unwrap());
        at_once.finish(&session).unwrap();
        for (at_once, side) in at_once.sides.iter().zip([left, right]) {
            assert_eq!((at_once.files(), &at_once.models, at_once.is_read()), (side.files(), &side.models, true));
        }
        assert_eq!((left.newest, right.newest), (Some(1_767_225_603_000), Some(1_767_225_604_000)));

        // For two entries on one path, the lower one's side has the entries between them.
        let between = Comparison::new(&session, ix("a"), ix("c")).unwrap();
        assert_eq!(
            (between.ancestor, between.sides[0].entries.len(), between.sides[1].entries.len()),
            (Some(ix("a")), 0, 2)
        );
        let apart = Comparison::new(&session, ix("r"), ix("c")).unwrap();
        assert_eq!((apart.ancestor, apart.sides[0].entries.len(), apart.sides[1].entries.len()), (None, 1, 3));
    }
}
