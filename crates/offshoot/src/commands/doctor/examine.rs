//! Examines one file: whether it is a session, or the remains of one. Writes nothing.

use std::ops::ControlFlow;
use std::path::Path;

use offshoot_session::envelope::{NoEnvelope, scan};
use offshoot_session::error::Error;
use offshoot_session::header::Header;
use offshoot_session::json::Json;
use offshoot_session::kind::Kind;
use offshoot_session::lines::for_each_line;
use offshoot_session::list::{SessionInfo, header, session_info};
use offshoot_session::medium::{FileMedium, Medium as _};

use super::reason::HiddenReason;
use super::searched_roots::FileDepth;

#[derive(Debug, Clone, Default)]
pub(super) struct FileIdentity {
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    pub(super) cwd: Option<String>,
    /// What lists show of a session without a name.
    pub(super) first_message: Option<String>,
}

impl From<&SessionInfo> for FileIdentity {
    fn from(info: &SessionInfo) -> Self {
        Self {
            id: Some(info.id.clone()),
            name: info.name.clone(),
            cwd: Some(info.cwd.clone()),
            first_message: Some(info.first_message.clone()),
        }
    }
}

impl From<&Header> for FileIdentity {
    fn from(header: &Header) -> Self {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Self {
            id: owned(Some(header.id())),
            name: owned(header.title()),
            cwd: owned(header.cwd()),
            first_message: None,
        }
    }
}

/// Why lists do not show a file; `None` if it has nothing to do with sessions.
pub(super) fn hidden(path: &Path, depth: FileDepth) -> Option<(HiddenReason, FileIdentity)> {
    if let Some(reason) = leftover(path) {
        let who = FileMedium::open(path).ok().and_then(|medium| header(&medium).ok());
        return Some((reason, who.as_ref().map(FileIdentity::from).unwrap_or_default()));
    }
    if path.extension().is_some_and(|extension| extension == "jsonl") {
        let (reason, who) = examine(path);
        let by_place = match depth {
            FileDepth::Above => Some(HiddenReason::Above),
            FileDepth::Below => Some(HiddenReason::Below),
            FileDepth::Usual => None,
        };
        return reason.or(by_place).map(|reason| (reason, who));
    }
    // Other files may be anything; only a header makes them a session.
    let header = header(&FileMedium::open(path).ok()?).ok()?;
    Some((HiddenReason::Extension, FileIdentity::from(&header)))
}

/// Recognises a backup, quarantine or temporary file by its name.
fn leftover(path: &Path) -> Option<HiddenReason> {
    let name = path.file_name()?.to_string_lossy();
    if name.starts_with(".offshoot-") && name.ends_with(".tmp") {
        return Some(HiddenReason::Temporary);
    }
    let (_, behind) = name.rsplit_once(".jsonl.")?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let word = behind.rsplit_once('.').filter(|(_, number)| is_number(number)).map_or(behind, |(word, _)| word);
    match word {
        "quarantine" => Some(HiddenReason::Quarantine),
        _ if word == "bak" || word.ends_with(".bak") => Some(HiddenReason::Backup),
        _ => None,
    }
}

/// Why a file is not a session; `None` if it is one.
pub(super) fn examine(path: &Path) -> (Option<HiddenReason>, FileIdentity) {
    let read = || {
        let medium = FileMedium::open(path).map_err(Error::io("open", path))?;
        if medium.len().map_err(Error::io("read", path))? == 0 {
            return Ok((Some(HiddenReason::Empty), FileIdentity::default()));
        }
        match session_info(&medium, None, false) {
            Ok(info) => Ok((None, FileIdentity::from(&info))),
            Err(Error::NotASession { .. }) => Ok(scan_records(&medium)?),
            Err(error) => Err(error),
        }
    };
    read().unwrap_or_else(|error| {
        let why = match &error {
            Error::Io { source, .. } => source.to_string(),
            other => other.to_string(),
        };
        (Some(HiddenReason::Unreadable(why)), FileIdentity::default())
    })
}

/// Looks for records in a file that does not begin with a header.
fn scan_records(medium: &FileMedium) -> Result<(Option<HiddenReason>, FileIdentity), Error> {
    let failed = || Error::io("read", medium.path());
    let length = medium.len().map_err(failed())?;
    let (mut reason, mut who) = (HiddenReason::NoRecord, FileIdentity::default());
    for_each_line(medium, 0, length, 1, |span, line| {
        let kind = match scan(line) {
            Ok(envelope) => envelope.kind,
            Err(NoEnvelope::NeedWholeLine) => Kind::Message,
            Err(NoEnvelope::Malformed(_)) => return ControlFlow::Continue(()),
        };
        if reason == HiddenReason::NoRecord {
            reason = HiddenReason::NoHeader;
        }
        let text = line.tail.is_none().then(|| String::from_utf8_lossy(line.head));
        let Some(text) = text else { return ControlFlow::Continue(()) };
        if kind == Kind::SessionInfo {
            who.name = Json::parse(&text).ok().and_then(|json| json.str("name").map(std::borrow::Cow::into_owned));
        } else if let Some(header) =
            Some(text).filter(|text| text.contains("\"session\"")).and_then(|text| Header::parse(&text))
        {
            let name = who.name.take();
            reason = HiddenReason::LateHeader(span.number);
            who = FileIdentity { name, ..FileIdentity::from(&header) };
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    })
    .map_err(failed())?;
    Ok((Some(reason), who))
}
