//! What a module of an agent must do: make planned entries of records, and lines of planned entries. Knows no agent.

use std::collections::HashMap;

use offshoot_session::clock::Millis;
use offshoot_session::compose::NewEntry;
use offshoot_session::error::Result;
use offshoot_session::json::{Json, SyntaxError};

use crate::composing::Composing;
use crate::digested::RecordDigester;
use crate::planned::{ForeignHead, PlannedEntry, Shape};
use crate::record::RecordSpan;

/// Reads the records of one session, one after another. The same records give the same entries, however many are known.
pub(crate) trait Mapper: Sized {
    /// What an entry is made of.
    type Form: Copy + std::fmt::Debug + Send + Sync + 'static;

    /// Makes room for so many more entries.
    fn expect(&mut self, _more: usize) {}

    /// Takes the next record. An entry that may still grow is held back.
    fn take(&mut self, span: RecordSpan, record: Json<'_>, out: &mut Vec<PlannedEntry<Self::Form>>);

    /// Takes the next record by its text, which was not checked yet. A module that knows which members it needs reads it once for both.
    ///
    /// # Errors
    /// It is not JSON; nothing of it is taken.
    fn take_text(
        &mut self,
        span: RecordSpan,
        text: &str,
        out: &mut Vec<PlannedEntry<Self::Form>>,
    ) -> std::result::Result<(), SyntaxError> {
        self.take(span, Json::parse(text)?, out);
        Ok(())
    }

    /// Makes what placing a record needs, on any thread. [`NoDigests`](crate::digested::NoDigests) if every record itself is needed.
    type Digester: RecordDigester;

    /// Takes the next record by its digest. `false` if the record itself is needed: then nothing of it is taken.
    fn take_digest(
        &mut self,
        span: RecordSpan,
        digest: <Self::Digester as RecordDigester>::Digest,
        out: &mut Vec<PlannedEntry<Self::Form>>,
    ) -> bool;

    /// There are no more records: what was held back comes out.
    fn close_open(&mut self, out: &mut Vec<PlannedEntry<Self::Form>>);

    /// The marker of where the session is open, unless that is at its last entry. `records` is how many there are.
    fn leaf_marker(&mut self, records: u32) -> Option<PlannedEntry<Self::Form>>;

    /// Whether an entry is held back.
    fn is_waiting(&self) -> bool;

    /// What the records say of the session so far.
    fn head(&self) -> &ForeignHead;

    /// The names that shapes mean.
    fn names(&self) -> &Names;

    /// The same when all is read.
    fn into_head(self) -> (ForeignHead, Names);

    /// The id that a record has; `None` if it is to be made of its bytes.
    fn record_id(record: Json<'_>) -> Option<String>;

    /// The time of a record.
    fn record_time(record: Json<'_>) -> Option<Millis>;

    /// What of a record has no place in the tree, for a report.
    fn loss(record: Json<'_>) -> Option<String>;

    /// Spells an entry: a pure function of its records.
    ///
    /// # Errors
    /// They do not make a valid entry.
    fn compose(shape: Shape<Self::Form>, of: &Composing<'_>) -> Result<NewEntry>;
}

/// Names that many entries have, such as those of tools.
#[derive(Debug, Default)]
pub(crate) struct Names {
    all: Vec<String>,
    known: HashMap<String, u16>,
}

impl Names {
    /// The number of a name. Beyond 65,535 names it is that of the empty one.
    pub(crate) fn number(&mut self, name: &str) -> u16 {
        if let Some(known) = self.known.get(name) {
            return *known;
        }
        let Ok(number) = u16::try_from(self.all.len()) else { return 0 };
        if number == 0 && !name.is_empty() {
            self.number("");
            return self.number(name);
        }
        self.all.push(name.to_owned());
        self.known.insert(name.to_owned(), number);
        number
    }

    pub(crate) fn get(&self, number: u16) -> &str {
        self.all.get(usize::from(number)).map_or("", String::as_str)
    }
}
