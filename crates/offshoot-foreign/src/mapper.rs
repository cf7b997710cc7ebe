//! What a module of an agent must do: make planned entries of records, and lines of planned entries. Knows no agent.

use std::collections::HashMap;

use offshoot_session::compose::NewEntry;
use offshoot_session::error::Result;
use offshoot_session::json::Json;

use crate::composing::Composing;
use crate::planned::{ForeignHead, PlannedEntry, Shape};
use crate::record::RecordSpan;

/// Reads the records of one session, one after another. The same records give the same entries, however many are known.
pub(crate) trait Mapper: Sized {
    /// What an entry is made of.
    type Form: Copy + std::fmt::Debug + Send + Sync + 'static;

    /// Takes the next record. An entry that may still grow is held back.
    fn take(&mut self, span: RecordSpan, record: Json<'_>, out: &mut Vec<PlannedEntry<Self::Form>>);

    /// There are no more records, of which there were so many: what was held back comes out, and where the session is open.
    fn finish(&mut self, records: u32, out: &mut Vec<PlannedEntry<Self::Form>>);

    /// What the records say of the session, and the names that shapes mean.
    fn into_head(self) -> (ForeignHead, Names);

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
