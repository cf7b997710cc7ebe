//! The ledger of a root session on disk: a line before each request with what it may cost at most, and one after it with what it has cost.
//! A request without the second line counts at what was reserved. Knows no request.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use offshoot_session::medium::{append_or_create_regular, make_private_folder, read_regular_text, sync_folder};
use serde::{Deserialize, Serialize};

use super::book::Spent;

/// A longer ledger is not read: what was spent is then read from the sessions.
const LONGEST: u64 = 256 << 20;

/// A line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(default)]
struct LedgerLine {
    /// Of a reservation: its number.
    #[serde(skip_serializing_if = "Option::is_none")]
    hold: Option<String>,
    /// Whose it is: the id of a child; empty for the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    account: Option<String>,
    /// Of a settlement: the number of its reservation.
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<String>,
    usd: f64,
    tokens: u64,
    requests: u64,
}

/// A ledger that is written.
#[derive(Debug)]
pub(crate) struct LedgerFile {
    file: Mutex<File>,
    /// Tells the reservations of this run of the program from those of others.
    run: String,
    next: AtomicU64,
}

/// What each account has spent in earlier runs, without those below it. A request that a kill has cut counts at what was reserved.
pub(crate) type EarlierRuns = BTreeMap<String, Spent>;

impl LedgerFile {
    /// Opens or creates the ledger; `None` as the sums if it was not there, or cannot be read.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn open(path: &Path, run: String) -> io::Result<(Self, Option<EarlierRuns>)> {
        let before = match read_regular_text(path, LONGEST) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            // It is written on, and the sessions say what was spent.
            Err(_) => None,
        };
        let folder = path.parent().unwrap_or(Path::new("."));
        make_private_folder(folder)?;
        let mut file = append_or_create_regular(path)?;
        if before.is_none() {
            sync_folder(folder)?;
        }
        if before.as_ref().is_some_and(|text| !text.is_empty() && !text.ends_with('\n')) {
            file.write_all(b"\n")?;
        }
        let sums = before.map(|text| sums(&text));
        Ok((Self { file: Mutex::new(file), run, next: AtomicU64::new(1) }, sums))
    }

    /// The number of the next reservation.
    pub(crate) fn number(&self) -> String {
        format!("{}-{}", self.run, self.next.fetch_add(1, Ordering::Relaxed))
    }

    /// Records a reservation; it is on the disk when this returns.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn hold(&self, number: &str, account: &str, held: &Spent) -> io::Result<()> {
        let line = LedgerLine {
            hold: Some(number.to_owned()),
            account: Some(account.to_owned()),
            end: None,
            usd: held.usd,
            tokens: held.tokens,
            requests: held.requests,
        };
        self.write(&line)?;
        self.file.lock().unwrap_or_else(PoisonError::into_inner).sync_data()
    }

    /// Records what a request has cost, or nothing if it was not sent. If this is lost, the reservation counts.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn end(&self, number: &str, spent: &Spent) -> io::Result<()> {
        let Spent { usd, tokens, requests, .. } = *spent;
        self.write(&LedgerLine { end: Some(number.to_owned()), usd, tokens, requests, ..LedgerLine::default() })
    }

    fn write(&self, line: &LedgerLine) -> io::Result<()> {
        let mut text = serde_json::to_string(line).map_err(io::Error::other)?;
        text.push('\n');
        self.file.lock().unwrap_or_else(PoisonError::into_inner).write_all(text.as_bytes())
    }
}

/// Lines that cannot be read are left out: a reservation without its end counts whole.
fn sums(text: &str) -> EarlierRuns {
    let mut holds: BTreeMap<String, (String, Spent)> = BTreeMap::new();
    let mut ends: BTreeMap<String, Spent> = BTreeMap::new();
    for line in text.lines().filter_map(|line| serde_json::from_str::<LedgerLine>(line).ok()) {
        let LedgerLine { hold, account, end, usd, tokens, requests } = line;
        let usd = if usd.is_finite() && usd >= 0.0 { usd } else { 0.0 };
        let spent = Spent { usd, tokens, requests, ..Spent::default() };
        if let (Some(hold), Some(account)) = (hold, account) {
            holds.insert(hold, (account, spent));
        } else if let Some(end) = end {
            ends.insert(end, spent);
        }
    }
    let mut sums = EarlierRuns::new();
    for (number, (account, held)) in holds {
        sums.entry(account).or_default().add(ends.get(&number).unwrap_or(&held));
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usd(usd: f64) -> Spent {
        Spent { usd, tokens: 10, requests: 1, ..Spent::default() }
    }

    /// Two runs, of which the first was killed while two requests were on their way.
    #[test]
    fn a_request_that_was_cut_counts_at_what_was_reserved() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledgers/x.jsonl");
        let (ledger, before) = LedgerFile::open(&path, "a".to_owned()).unwrap();
        assert_eq!(before, None);
        let hold = |account: &str, held: f64| {
            let number = ledger.number();
            ledger.hold(&number, account, &usd(held)).unwrap();
            number
        };
        let (first, released) = (hold("Alpha", 0.5), hold("Alpha", 0.25));
        hold("Alpha", 0.125);
        hold("", 4.0);
        ledger.end(&first, &usd(0.0625)).unwrap();
        ledger.end(&released, &Spent::default()).unwrap();
        std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"hold\":\"to").unwrap();
        let (ledger, before) = LedgerFile::open(&path, "b".to_owned()).unwrap();
        let before = before.unwrap();
        assert_eq!((before["Alpha"].usd, before["Alpha"].requests, before[""].usd), (0.1875, 2, 4.0));
        ledger.hold(&ledger.number(), "Beta", &usd(1.0)).unwrap();
        let (_, again) = LedgerFile::open(&path, "c".to_owned()).unwrap();
        assert_eq!(again.unwrap()["Beta"].usd, 1.0, "a torn line does not swallow the next");
    }
}
