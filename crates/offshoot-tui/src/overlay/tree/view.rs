//! Draws the selector: title, help, search, rows, statistics, preview and question. It changes nothing.

use offshoot_protocol::ComesBack;
use offshoot_session::clock::{Millis, ago};
use offshoot_session::kind::Role;
use offshoot_session::outline::Filter;
use offshoot_session::tree::NodeIx;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation as _;

use super::compare::Given;
use super::draw::{draw, held, row, rule};
use super::files::FilesLook;
use super::panes::Panes;
use super::question::{ANSWERS, Question, comes_words, files_words};
use super::{ForecastWords, Mode, TreeSelector};
use crate::keymap::{Action, Keymap};
use crate::overlay::hint;
use crate::text;
use crate::theme::{Theme, Token};

/// The actions in the help, the most important first, and their effects.
const HELP: [(&[Action], &str); 16] = [
    (&[Action::SelectConfirm], "go"),
    (&[Action::SelectCancel], "leave"),
    (&[Action::FilterNext], "filter"),
    (&[Action::EditLabel], "label"),
    (&[Action::FoldOrUp, Action::UnfoldOrDown], "branch"),
    (&[Action::CursorLeft, Action::CursorRight], "fold, page"),
    (&[Action::MarkBranch, Action::MarkRange, Action::DiffBranches], "mark, compare"),
    (&[Action::PickEntries, Action::MergeBranch, Action::UndoOperation], "pick, merge, undo"),
    (&[Action::JumpToLabel], "#label"),
    (&[Action::ToggleTreePreview], "preview"),
    (&[Action::SelectUp, Action::SelectDown], "move"),
    (&[Action::CopyMessage], "copy"),
    (&[Action::GoToSource], "source of ⇠"),
    (&[Action::ToggleLabelTimestamp], "label time"),
    (&[Action::ToggleTreeStats], "figures"),
    (
        &[
            Action::FilterDefault,
            Action::FilterNoTools,
            Action::FilterUserOnly,
            Action::FilterLabeledOnly,
            Action::FilterAll,
        ],
        "filters",
    ),
];

impl TreeSelector {
    /// Draws the selector. `progress` is the duration and the size of the summary that is being written.
    pub fn view(&self, theme: &Theme, (area, progress): (Rect, &str), buf: &mut Buffer) {
        let panes = Panes::new(area, self.shows_preview());
        let foot = match self.mode {
            Mode::Browse | Mode::Leaving { .. } | Mode::Label(..) => panes.foot,
            Mode::Compare(_) | Mode::Question(..) => row(area, usize::from(area.height).saturating_sub(1)),
        };
        rule(theme, "Session tree", panes.title, buf);
        rule(theme, "", foot, buf);
        match &self.mode {
            Mode::Browse | Mode::Leaving { .. } => self.view_tree(theme, (&panes, progress), buf),
            Mode::Label(_, input) => {
                self.view_tree(theme, (&panes, progress), buf);
                let muted = theme.style(Token::Muted);
                text::clear(panes.help, buf);
                let keys = hint::line(
                    &self.setup.keymap,
                    &[(&[Action::SelectConfirm], "save"), (&[Action::SelectCancel], "cancel")],
                );
                draw(&Line::styled(format!("  {keys}"), muted), panes.help, buf);
                text::clear(panes.search, buf);
                let prompt = Span::styled("  Label (empty to remove): ", muted);
                input.view(prompt, theme.style(Token::Text), panes.search, buf);
            }
            Mode::Compare(compare) => {
                let given = Given {
                    source: self.source.as_ref(),
                    outline: &self.list.outline,
                    theme,
                    keymap: &self.setup.keymap,
                    now: self.setup.now,
                };
                compare.view(&given, area, buf);
            }
            Mode::Question(ix, question) => self.view_question(theme, (*ix, question), area, buf),
        }
    }

    fn view_tree(&self, theme: &Theme, (panes, progress): (&Panes, &str), buf: &mut Buffer) {
        let muted = theme.style(Token::Muted);
        for (at, line) in help(&self.setup.keymap, usize::from(panes.help.width))
            .into_iter()
            .enumerate()
            .take(panes.help.height.into())
        {
            draw(&Line::styled(line, muted), row(panes.help, at), buf);
        }
        draw(&self.search_line(theme, panes.search), panes.search, buf);
        let room = usize::from(panes.list.height);
        for (at, line) in self.lines(theme, panes.list.width.into(), room).iter().enumerate() {
            draw(line, row(panes.list, at), buf);
        }
        if self.list.len() == 0 {
            let said = if self.search.is_running() { "  Searching…" } else { "  No entries found" };
            draw(&Line::styled(said, muted), panes.list, buf);
        }
        draw(&self.status_line(theme, panes.status.width.into(), progress), panes.status, buf);
        if self.shows_sums {
            draw(&self.sums_line(theme, panes.sums.width.into()), panes.sums, buf);
        }
        self.view_preview(theme, panes, buf);
    }

    fn search_line(&self, theme: &Theme, area: Rect) -> Line<'static> {
        let mut spans = vec![Span::styled("  Type to search: ", theme.style(Token::Muted))];
        let room = usize::from(area.width).saturating_sub(19);
        let query = text::clean(self.search.query());
        // The end of a long query is visible.
        let (mut start, mut used) = (query.len(), 0);
        for (at, grapheme) in query.grapheme_indices(true).rev() {
            used += text::width(grapheme);
            if used > room {
                break;
            }
            start = at;
        }
        let shown = query.get(start..).unwrap_or_default();
        spans.push(Span::styled(shown.to_owned(), theme.style(Token::Accent)));
        if self.search.is_running() {
            spans.push(Span::styled(format!("  {} %", self.search.percent()), theme.style(Token::Dim)));
        }
        Line::from(spans)
    }

    fn status_line(&self, theme: &Theme, columns: usize, progress: &str) -> Line<'static> {
        if let Mode::Leaving { summarize, is_stopping } = &self.mode {
            let said = match (summarize, is_stopping) {
                (_, true) => "Stopping…".to_owned(),
                (true, false) => {
                    let stops = hint::line(&self.setup.keymap, &[(&[Action::SelectCancel], "stops")]);
                    format!("{} Summarizing the branch{progress} … {stops}", spinner(self.setup.now))
                }
                (false, false) => format!("{} Going there…", spinner(self.setup.now)),
            };
            return Line::styled(format!("  {said}"), theme.style(Token::Accent));
        }
        if let Some(notice) = &self.notice {
            let notice = text::fit(notice, columns.saturating_sub(2));
            return Line::styled(format!("  {notice}"), theme.style(Token::Warning));
        }
        // What is marked counts more than where one would go.
        let forecast = self.forecast();
        let (status, room) = (self.status(), columns.saturating_sub(2));
        let words = match self.marks.is_empty() {
            true => forecast.and_then(|words| words.line(room.saturating_sub(text::width(&status) + 2))),
            false => forecast.and_then(|words| words.bring.clone()),
        };
        let status = match words {
            Some(words) => text::fit(&format!("{status}  {words}"), room).into_owned(),
            None => status,
        };
        Line::styled(format!("  {status}"), theme.style(Token::Muted))
    }

    /// The position of the cursor, and the filter; empty until the rows are counted.
    pub fn status(&self) -> String {
        if !self.list.outline.is_whole() {
            return String::new();
        }
        let position = if self.list.len() == 0 { 0 } else { self.list.selected + 1 };
        let filter = match self.list.filter {
            Filter::Default => "",
            Filter::NoTools => " [no-tools]",
            Filter::UserOnly => " [user]",
            Filter::LabeledOnly => " [labeled]",
            Filter::All => " [all]",
        };
        let times = if self.shows_label_times { " [+label time]" } else { "" };
        format!("({position}/{}){filter}{times}", self.list.len())
    }

    /// The content of the branch under the cursor, and the path to it as far as there is room.
    fn sums_line(&self, theme: &Theme, columns: usize) -> Line<'static> {
        let sums = self.sums.as_ref().zip(self.list.entry());
        let Some(branch) = sums.and_then(|(sums, ix)| sums.branch(self.source.as_ref(), &self.list.outline, ix)) else {
            return Line::default();
        };
        let has_tokens = branch.own.tokens + branch.path.tokens > 0;
        let tips = if branch.tips > 1 { format!(" on {} branches", branch.tips) } else { String::new() };
        let age = branch.newest.map_or(String::new(), |time| format!(", {}", ago(time, self.setup.now)));
        let room = columns.saturating_sub(2);
        let own = |has_tokens| format!("branch: {}{tips}{age}", held(&branch.own, has_tokens));
        let merge = self.forecast().filter(|_| self.marks.is_empty()).and_then(|words| words.bring.as_deref());
        let beside = merge.map_or(0, |merge| text::width(merge) + 3);
        let fits = |own: &String| text::width(own) + beside <= room;
        let own = Some(own(has_tokens)).filter(fits).unwrap_or_else(|| own(false));
        let paths = [true, false].map(|all| format!("path: {}", held(&branch.path, has_tokens && all)));
        let fits = |path: &&String| text::width(&own) + 3 + text::width(path) <= room;
        // Of a merge its beginning is shown where there is no room for its cost.
        let merge = merge.map(|merge| text::fit(merge, room.saturating_sub(text::width(&own) + 3)));
        let path = merge.as_deref().or_else(|| paths.iter().find(fits).map(String::as_str)).unwrap_or_default();
        let words = if path.is_empty() { vec![own.as_str()] } else { vec![own.as_str(), path] };
        Line::styled(format!("  {}", text::joined(&words, room)), theme.style(Token::Dim))
    }

    fn view_preview(&self, theme: &Theme, panes: &Panes, buf: &mut Buffer) {
        if panes.preview.is_empty() || !self.shows_preview() {
            return;
        }
        text::clear(panes.preview, buf);
        rule(theme, "Preview", panes.preview, buf);
        let (x, y) = (panes.preview.x + 1, panes.preview.y + 1);
        let area = Rect { x, y, width: panes.preview.width.saturating_sub(1), height: panes.preview.height - 1 };
        let columns = usize::from(area.width).max(1);
        let text = text::clean_lines(&self.preview.text);
        let wrapped = text.lines().flat_map(|line| text::wrap(line.to_owned(), columns));
        for (at, line) in wrapped.skip(self.preview.top).take(area.height.into()).enumerate() {
            draw(&line.style(theme.style(Token::Text)), row(area, at), buf);
        }
    }

    fn view_question(&self, theme: &Theme, (ix, question): (NodeIx, &Question), area: Rect, buf: &mut Buffer) {
        let (muted, plain) = (theme.style(Token::Muted), theme.style(Token::Text));
        if let FilesLook::Known(diff) = &question.files
            && diff.is_shown()
        {
            return diff.view(theme, &self.setup.keymap, area, buf);
        }
        let mut lines = self.question_head(theme, (ix, question), usize::from(area.width));
        let keymap = &self.setup.keymap;
        let inner = Rect { y: area.y + 1, height: area.height.saturating_sub(2), ..area };
        let mut at = lines.len();
        if question.is_asking_files() {
            lines.push(Line::styled(
                "  What comes back? The answer is kept as the setting treeFiles",
                theme.style(Token::Accent),
            ));
            for comes in ComesBack::ALL {
                let is_selected = comes == question.comes;
                let style = if is_selected { theme.style(Token::Accent) } else { plain };
                let look =
                    if is_selected && comes != ComesBack::Messages { files_line(question) } else { String::new() };
                let mark = if is_selected { "›" } else { " " };
                lines.push(Line::styled(format!("{mark} {}{look}", comes_words(comes)), style));
            }
            at = (lines.len() + 1).min(usize::from(inner.height).saturating_sub(1));
        } else if question.is_writing {
            lines.push(Line::styled("  What should the summary focus on?", theme.style(Token::Accent)));
            let place = prompt_area(area);
            question.prompt.view(theme, place, buf);
            at += 1 + usize::from(question.prompt.height().min(place.height));
        } else {
            let cost = self.forecast().and_then(|words| words.summary.as_ref());
            let answers = if question.comes == ComesBack::Files { &["Bring the files"][..] } else { &ANSWERS[..] };
            for (at, answer) in answers.iter().enumerate() {
                let is_selected = at == question.at || answers.len() == 1;
                let cost = cost.filter(|_| at > 0).map(|cost| format!("  ≈ {cost}")).unwrap_or_default();
                let style = if is_selected { theme.style(Token::Accent) } else { plain };
                lines.push(Line::styled(format!("{} {answer}{cost}", if is_selected { "›" } else { " " }), style));
            }
            let (look, is_warned) = (files_line(question), question.files.is_across_commits());
            let comes = question.comes != ComesBack::Messages;
            let style = if comes && is_warned { theme.style(Token::Warning) } else { muted };
            let words = format!("  {}{look}", files_words(question.comes));
            lines.push(Line::styled(text::fit(&words, usize::from(area.width)).into_owned(), style));
            // Without room for a blank row, the hints follow at once.
            at = (lines.len() + 1).min(usize::from(inner.height).saturating_sub(1));
        }
        for (at, line) in lines.iter().enumerate().take(inner.height.into()) {
            draw(line, row(inner, at), buf);
        }
        let hints = if question.is_writing { WRITING } else { CHOOSING };
        let hints = hint::fit(keymap, hints, usize::from(area.width).saturating_sub(2));
        draw(&Line::styled(format!("  {hints}"), muted), row(inner, at), buf);
    }

    /// The target of the navigation, and its effect.
    fn question_head(&self, theme: &Theme, (ix, question): (NodeIx, &Question), columns: usize) -> Vec<Line<'static>> {
        let (muted, plain) = (theme.style(Token::Muted), theme.style(Token::Text));
        let warning = theme.style(Token::Warning);
        let outline = &self.list.outline;
        let run = outline.nearest(ix).filter(|row| outline.run(*row).is_some());
        let said = run
            .map_or_else(|| outline.text(self.source.as_ref(), ix), |row| outline.row_text(self.source.as_ref(), row));
        let said = said.unwrap_or_else(|error| error.to_string());
        let is_users = self.source.tree().node(ix).role() == Some(Role::User);
        let brings_files = question.comes == ComesBack::Files;
        let then = if brings_files {
            "The conversation stays where it is"
        } else if is_users {
            "Its text comes into the editor"
        } else {
            "You continue after it"
        };
        let title = if brings_files { "  Bring files back?" } else { "  Summarize branch?" };
        let goes = if brings_files { "Files as at" } else { "You go to" };
        let then = match question.left_out.as_ref().filter(|_| !brings_files) {
            Some(left) => {
                let both = format!("  {then}; {left}");
                let said = if text::width(&both) <= columns { both } else { format!("  {left}") };
                Line::styled(text::fit(&said, columns).into_owned(), warning)
            }
            None => Line::styled(format!("  {then}"), muted),
        };
        // It comes a moment later, and must not move what is below.
        let room = columns.saturating_sub(2);
        // The answers have the cost of a summary beside them.
        let line = if question.is_writing { ForecastWords::line } else { ForecastWords::request_line };
        let forecast = self.forecast().filter(|_| !brings_files).and_then(|words| line(words, room));
        let forecast = forecast.map(|forecast| format!("  {}", text::fit(&forecast, room)));
        vec![
            Line::default(),
            Line::styled(title, plain.add_modifier(Modifier::BOLD)),
            Line::styled(
                format!("  {goes} {}", text::fit(&said, columns.saturating_sub(text::width(goes) + 3))),
                muted,
            ),
            then,
            Line::styled(forecast.unwrap_or_default(), muted),
        ]
    }

    /// Whether it asks what becomes of the branch that is left.
    #[must_use]
    pub fn asks(&self) -> bool {
        matches!(self.mode, Mode::Question(..))
    }

    /// Whether a label is being typed.
    #[must_use]
    pub fn is_labelling(&self) -> bool {
        matches!(self.mode, Mode::Label(..))
    }

    /// The position of the terminal's cursor in this area, if there is a text input.
    #[must_use]
    pub fn cursor(&self, area: Rect) -> Option<Position> {
        match &self.mode {
            Mode::Question(_, question) if question.is_writing => question.prompt.cursor(prompt_area(area)),
            _ => None,
        }
    }
}

/// What is known of the files, with the warning first.
fn files_line(question: &Question) -> String {
    let other = if question.files.is_across_commits() { " · of another commit" } else { "" };
    format!("{other}{}", question.files.words())
}

/// Key hints at the question before leaving, and while the instructions for the summary are written.
const CHOOSING: &[hint::Hint<'static>] = &[
    (&[Action::SelectConfirm], "go"),
    (&[Action::SelectCancel], "back"),
    (&[Action::SelectUp, Action::SelectDown], "choose"),
];
const WRITING: &[hint::Hint<'static>] = &[
    (&[Action::Submit], "go"),
    (&[Action::SelectCancel], "back"),
    (&[Action::NewLine], "new line"),
    (&[Action::ExternalEditor], "editor"),
];

/// The area of the summary's instructions: below the target, above the keys.
fn prompt_area(area: Rect) -> Rect {
    const HEAD: u16 = 7;
    Rect { y: area.y.saturating_add(HEAD), height: area.height.saturating_sub(HEAD + 2), ..area }
}

/// The help, with as many keys on a line as fit.
fn help(keymap: &Keymap, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (actions, does) in HELP {
        let Some(item) = hint::keys(keymap, actions).map(|keys| format!("{keys} {does}")) else { continue };
        match lines.last_mut() {
            Some(line) if text::width(line) + 3 + text::width(&item) <= columns => {
                line.push_str(" · ");
                line.push_str(&item);
            }
            _ => lines.push(format!("  {item}")),
        }
    }
    lines
}

fn spinner(now: Millis) -> char {
    const FRAMES: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
    FRAMES.get((now / 80).rem_euclid(10) as usize).copied().unwrap_or(' ')
}
