//! Finds every file that resembles a session, wherever it is.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use offshoot_app::app::App;
use offshoot_app::error::Result;
use offshoot_session::list::SessionInfo;
use offshoot_session::medium::real_path_or_same;
use offshoot_session::path_words::path_of_words;
use offshoot_session::store::{DirStore, Flavour, Root, Scope, Store as _, unreadable};

use super::examine::{FileIdentity, examine, hidden};
use super::reason::HiddenReason;
use super::searched_roots::{FileDepth, SearchedRoot, files, searched_roots};
use offshoot_workspace::spills::spills;

#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) path: PathBuf,
    pub(super) fits: Fit,
    pub(super) who: FileIdentity,
    pub(super) reasons: Vec<HiddenReason>,
}

/// The kind of resemblance, the closest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    Path,
    Id,
    Name,
    StartOfId,
    FileName,
    PartOfName,
    Words,
}

impl Fit {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Id => "id",
            Self::Name => "name",
            Self::StartOfId => "start of its id",
            Self::FileName => "file name",
            Self::PartOfName => "part of its name",
            Self::Words => "words of its name or first message",
        }
    }
}

/// The search text in the forms in which it is compared.
struct Wanted<'a> {
    given: &'a str,
    file: Option<PathBuf>,
    /// The file's name without its extension, if a path was given.
    stem: String,
}

impl<'a> Wanted<'a> {
    fn new(app: &App, given: &'a str) -> Self {
        let path = app.environment.whole_path(path_of_words(given));
        let stem = Path::new(given).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let stem = stem.strip_suffix(".jsonl").map(str::to_owned).unwrap_or(stem).to_lowercase();
        let is_there = |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|meta| !meta.is_dir());
        let file = [path.clone(), path.with_added_extension("jsonl")].into_iter().find(is_there);
        Self { given, file, stem }
    }

    fn fit(&self, path: &Path, who: &FileIdentity) -> Option<Fit> {
        let is_file = || self.file.as_ref().is_some_and(|file| same(file, path));
        let (id, name) = (who.id.as_deref().unwrap_or_default(), who.name.as_deref().unwrap_or_default());
        let has_file_name = || {
            let own = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
            own.contains(&self.stem)
        };
        if is_file() {
            Some(Fit::Path)
        } else if id == self.given {
            Some(Fit::Id)
        } else if name == self.given {
            Some(Fit::Name)
        } else if id.starts_with(self.given) {
            Some(Fit::StartOfId)
        } else if !self.stem.is_empty() && has_file_name() {
            Some(Fit::FileName)
        } else if name.to_lowercase().contains(&self.given.to_lowercase()) {
            Some(Fit::PartOfName)
        } else if self.has_words(name) || self.has_words(who.first_message.as_deref().unwrap_or_default()) {
            Some(Fit::Words)
        } else {
            None
        }
    }

    /// Whether all words are in a text, in any order.
    fn has_words(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        let mut words = self.given.split_whitespace().map(str::to_lowercase).peekable();
        words.peek().is_some() && words.all(|word| text.contains(&word))
    }
}

/// The candidates, the closest first, and what could not be read.
pub(super) fn search(app: &App, given: &str) -> Result<(Vec<Candidate>, Vec<String>)> {
    let wanted = Wanted::new(app, given);
    let (mut found, mut unread, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
    let here = listed_here(app);
    for place in searched_roots(app) {
        let mut progress = app.ui.progress("reading sessions");
        let (sessions, trouble) = listed(&place.root, None, &mut |done, total| progress.at(done, total));
        drop(progress);
        unread.extend(trouble);
        for info in &sessions {
            seen.insert(real_path_or_same(&info.path));
            let who = FileIdentity::from(info);
            if let Some(fits) = wanted.fit(&info.path, &who) {
                let reasons = reasons(app, &place, info, here.contains(&info.path));
                found.push(Candidate { path: info.path.clone(), fits, who, reasons });
            }
        }
        let (files, trouble) = files(&place.root);
        unread.extend(trouble);
        for (path, depth) in files {
            if !seen.insert(real_path_or_same(&path)) {
                continue;
            }
            let Some((reason, who)) = hidden(&path, depth) else { continue };
            if let Some(fits) = wanted.fit(&path, &who) {
                let over = place.passed_over.clone().map(HiddenReason::PassedOver);
                found.push(Candidate { path, fits, who, reasons: std::iter::once(reason).chain(over).collect() });
            }
        }
    }
    if let Some(file) = wanted.file.clone().filter(|file| !seen.contains(&real_path_or_same(file))) {
        let (reason, who) = match hidden(&file, FileDepth::Usual) {
            Some((reason, who)) => (Some(reason), who),
            None => examine(&file),
        };
        let reasons = vec![reason.unwrap_or(HiddenReason::Outside)];
        found.push(Candidate { path: file, fits: Fit::Path, who, reasons });
    }
    let (waiting, trouble) = app.environment.spill.as_deref().map(spills).unwrap_or_default();
    unread.extend(trouble);
    for spill in waiting {
        let who = FileIdentity { id: Some(spill.session_id), ..FileIdentity::default() };
        let beside = found.iter().find(|candidate| same(&candidate.path, Path::new(&spill.file)));
        let fits = beside.map(|candidate| candidate.fits).or_else(|| wanted.fit(Path::new(&spill.file), &who));
        if let Some(fits) = fits {
            let reasons = vec![HiddenReason::Spilled(spill.file, spill.entries)];
            found.push(Candidate { path: spill.path, fits, who, reasons });
        }
    }
    found.sort_by(|a, b| a.fits.cmp(&b.fits).then_with(|| a.path.cmp(&b.path)));
    unread.sort();
    unread.dedup();
    Ok((found, unread))
}

/// The sessions of a root as a list has them, and what could not be read. Uses no cache: nothing is written.
pub(super) fn listed(
    root: &Root,
    cwd: Option<&str>,
    progress: &mut dyn FnMut(usize, usize),
) -> (Vec<SessionInfo>, Vec<String>) {
    let store = DirStore::new(root.clone(), Vec::new());
    match store.list(Scope { cwd, with_text: false }, progress) {
        Ok((sessions, _)) => (sessions, Vec::new()),
        Err(error) => (Vec::new(), vec![unreadable(&error).message]),
    }
}

fn listed_here(app: &App) -> HashSet<PathBuf> {
    let cwd = app.cwd();
    let roots = searched_roots(app).into_iter().filter(|place| place.passed_over.is_none());
    let sessions = roots.flat_map(|place| listed(&place.root, Some(&cwd), &mut |_, _| {}).0);
    sessions.map(|info| info.path).collect()
}

fn reasons(app: &App, place: &SearchedRoot, info: &SessionInfo, is_here: bool) -> Vec<HiddenReason> {
    let cwd = app.cwd();
    let mut reasons = Vec::new();
    let is_there = info.cwd.is_empty() || Path::new(&info.cwd).exists();
    reasons.push(if let Some(why) = &place.passed_over {
        HiddenReason::PassedOver(why.clone())
    } else if is_here {
        HiddenReason::Listed
    } else if same(Path::new(&info.cwd), Path::new(&cwd)) {
        HiddenReason::Misplaced
    } else if is_there {
        HiddenReason::OtherFolder(info.cwd.clone())
    } else {
        HiddenReason::FolderGone(info.cwd.clone())
    });
    let lies_here = || place.root.folders_of(&cwd).iter().any(|folder| info.path.starts_with(folder));
    match place.root.flavour {
        Flavour::Pi if place.passed_over.is_none() && !is_here && lies_here() => {
            reasons.push(HiddenReason::PiListsHere);
        }
        Flavour::Offshoot => reasons.push(HiddenReason::NotForOthers),
        _ => {}
    }
    reasons
}

fn same(a: &Path, b: &Path) -> bool {
    a == b || real_path_or_same(a) == real_path_or_same(b)
}
