//! A session as a page, in the colours of a theme. Knows no command.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use offshoot_app::app::App;
use offshoot_app::error::{CommandError, Result};
use offshoot_html::{PageAgent, PageColours, PageFiles, PageLimits, PageOmissions, PageThemes};
use offshoot_session::child::children_folder;
use offshoot_session::children::{ChildInfo, ChildList};
use offshoot_session::entry::Source as _;
use offshoot_session::session::{Session, SessionPart};
use offshoot_session::text::counted;
use offshoot_settings::Settings;
use offshoot_tui::markdown::plain_row;
use offshoot_tui::theme::{PageTheme, Themes};
use offshoot_workspace::export::not_written;
use offshoot_workspace::{PageFilesRoom, PageOrder, page_files};

use crate::theme_files::theme_files;
use crate::themes;

/// Writes the page, and says what it lacks.
pub(crate) fn write(
    app: &App,
    session: &Session,
    order: &PageOrder,
    mut out: &mut dyn Write,
) -> Result<Option<String>> {
    let size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
    let base64 = |bytes: u64| size(bytes.div_ceil(3).saturating_mul(4));
    let picture = order.largest_picture.map(base64);
    let mut room = PageFilesRoom::default();
    let options = offshoot_html::Options {
        files: files_of(app, session, order.part, order, &mut room),
        part: order.part,
        home: app.environment.home.as_ref().map(|home| home.to_string_lossy().into_owned()),
        plain: Some(plain_row),
        limits: PageLimits { picture, text: order.longest_text.map(size), ..PageLimits::default() },
        themes: match &order.theme {
            Some(file) => PageThemes::one(colours(app, file)?),
            None => themes_of_settings(app, session).unwrap_or_default(),
        },
    };
    let mut agents = agents_of(app, session, order.part);
    for agent in &mut agents {
        agent.files = files_of(app, &agent.session, SessionPart::Everything, order, &mut room);
    }
    let shown: Vec<PageAgent<'_>> = agents.iter().map(OpenAgent::on_page).collect();
    let written = offshoot_html::render_with(session, &shown, &options, &mut out);
    let left_out: PageOmissions = written.map_err(|error| match error {
        offshoot_html::Error::Read(error) => CommandError::from(error),
        offshoot_html::Error::Write(error) => {
            CommandError::of_operation(not_written(order.file.as_deref(), error), None)
        }
    })?;
    Ok(left_out.words().map(|words| words.trim_end_matches('.').replacen("The", "the", 1)))
}

/// What the entries of a part changed in files, unless that is left out.
fn files_of(app: &App, session: &Session, part: SessionPart, order: &PageOrder, room: &mut PageFilesRoom) -> PageFiles {
    if order.no_files {
        let note = "What differs in files was left out of this page.".to_owned();
        return PageFiles { entries: BTreeMap::new(), note };
    }
    let entries = page_files(&app.place(), session, (part, &app.folder_of(session)), room);
    PageFiles { entries, note: PageFilesRoom::note() }
}

/// The files of agents of more bytes in all are not on a page.
const MOST_OF_AGENTS: u64 = 64 << 20;

/// An agent whose session is on a page.
struct OpenAgent {
    info: ChildInfo,
    words: String,
    session: Session,
    files: PageFiles,
}

impl OpenAgent {
    fn on_page(&self) -> PageAgent<'_> {
        let call = self.info.tool_call_id.as_deref();
        let entry = self.info.parent_entry.as_deref();
        PageAgent { id: &self.info.id, words: &self.words, call, entry, session: &self.session, files: &self.files }
    }
}

/// The agents that the written part has started. What is not on the page is reported.
fn agents_of(app: &App, session: &Session, part: SessionPart) -> Vec<OpenAgent> {
    let Some(file) = session.file() else { return Vec::new() };
    let read = app.place().children(&[file]).pop().unwrap_or_else(|| Ok(ChildList::default()));
    let list = match read {
        Ok(list) => list,
        Err(error) => {
            app.ui.warning(&format!("the agents in {} cannot be read: {error}", children_folder(file).display()));
            return Vec::new();
        }
    };
    let (mut agents, mut bytes, mut missing) = (Vec::new(), 0, list.left_out);
    for info in list.of_part(session.tree(), part) {
        let size = std::fs::metadata(&info.file).map_or(0, |meta| meta.len());
        let opened = if bytes + size > MOST_OF_AGENTS { None } else { app.open_file(&info.file).ok() };
        match opened {
            Some(session) => {
                bytes += size;
                agents.push(OpenAgent {
                    words: info.words(),
                    info: info.clone(),
                    session,
                    files: PageFiles::default(),
                });
            }
            None => missing += 1,
        }
    }
    if missing > 0 {
        let what = counted(missing, "session of an agent", "sessions of agents");
        app.ui.warning(&format!("the page leaves out {what}: too large in all, or not readable"));
    }
    agents
}

/// The colours of pages in a theme file.
fn colours(app: &App, file: &Path) -> Result<PageColours> {
    let (PageTheme { page, card, info }, problems) = themes::of_page(file)?;
    problems.iter().for_each(|problem| app.ui.warning(problem));
    Ok(PageColours { page, card, info })
}

/// The colours of pages in the themes that the settings name, as far as these are files. What is wrong with them is a
/// warning: nobody asked for them here.
fn themes_of_settings(app: &App, session: &Session) -> Option<PageThemes> {
    let warn = |error: &CommandError| app.ui.warning(&error.with_hints_on_one_line());
    let layers = app.layers(session).inspect_err(warn).ok()?;
    let (light, dark) = Themes::named(Some(&Settings::from(&layers).theme?)).ok()?;
    let files = theme_files(app, &layers, &app.folder_of(session));
    let of = |name: &str| {
        let file = themes::page_file(&files, name);
        file.and_then(|file| colours(app, file).inspect_err(warn).ok()).unwrap_or_default()
    };
    let light_colours = of(&light);
    if light == dark {
        return Some(PageThemes::one(light_colours));
    }
    Some(PageThemes { light: light_colours, dark: of(&dark) })
}
