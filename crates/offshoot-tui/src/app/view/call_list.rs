//! The rows of the list of calls that are asked about. Each call is listed with all of its text, as far as there is room.

use offshoot_session::text::counted;
use ratatui::text::Line;

use super::approval::{call, cut_short, omits_lines, rows};
use crate::app::call_list::{AskedCall, CallList, CallMark, ListedCall};
use crate::app::model::{Model, Question, QuestionStage};
use crate::keymap::Action;
use crate::text::width;
use crate::theme::Token;

/// Columns of a mark, with the blanks around it.
const MARK: usize = 11;
/// Before each line of a call that is below its mark.
const INDENT: &str = "          ";

/// Whether all of each call is on the screen.
pub fn listed_calls_in_full(model: &Model) -> Vec<bool> {
    panel(model).map(|panel| panel.in_full).unwrap_or_default()
}

/// The number of rows of the call that is shown alone, and how many are shown at once.
pub fn opened_call_rows(model: &Model) -> (usize, usize) {
    panel(model).map_or((0, 0), |panel| (panel.count, panel.page))
}

pub(super) fn lines(model: &Model) -> Option<Vec<Line<'static>>> {
    let ListPanel { title, rows, below, blanks, .. } = panel(model)?;
    Some(std::iter::repeat_n(Line::default(), blanks).chain(title).chain(rows).chain(below).collect())
}

/// The list as it fits above the editor: the keys always, then a row of the title, then the calls around the selected one.
struct ListPanel {
    blanks: usize,
    title: Vec<Line<'static>>,
    rows: Vec<Line<'static>>,
    below: Vec<Line<'static>>,
    in_full: Vec<bool>,
    /// All rows of the calls, or of the opened one.
    count: usize,
    page: usize,
}

fn panel(model: &Model) -> Option<ListPanel> {
    let question = model.question.as_ref()?;
    let list = question.list.as_ref()?;
    let room = super::room_above(model);
    let entries: Vec<Vec<Line<'static>>> = match list.opened {
        Some(_) => vec![entry(model, list, (list.selected, list.calls.get(list.selected)?))],
        None => list.calls.iter().enumerate().map(|numbered| entry(model, list, numbered)).collect(),
    };
    let count: usize = entries.iter().map(Vec::len).sum();
    let with = |keys: &[&str]| {
        let keys = keys.iter().flat_map(|hint| rows(model, hint, Token::Muted));
        waiting(model, question, list).into_iter().chain(keys).collect::<Vec<_>>()
    };
    let answer = model.preferences.keymap.hint(Action::AnswerQuestion).unwrap_or_default();
    let (long, short) = keys(question, list, &answer);
    let mut below = with(&long.iter().map(String::as_str).collect::<Vec<_>>());
    if below.len() + 3 + count.min(3) > room {
        below = with(&short);
    }
    let mut title = rows(model, &title(list), Token::Warning);
    let fits = room.saturating_sub(below.len() + 2).max(1);
    if title.len() > fits {
        title.truncate(fits);
        title.last_mut().into_iter().for_each(cut_short);
    }
    let left = room.saturating_sub(title.len() + below.len());
    let blanks = usize::from(left > count);
    let is_cut = count > left.max(1);
    // The last row says how much there is.
    let page = if is_cut { left.saturating_sub(1).max(1) } else { count };
    let window = Window::new(&entries, list, page);
    let mut shown = window.rows(&entries);
    if is_cut {
        shown.extend(rows(model, &window.place(list, count), Token::Muted).into_iter().take(1));
    }
    let in_full = list.calls.iter().enumerate().map(|(at, listed)| {
        let is_shown = match list.opened {
            Some(_) => at == list.selected && window.shows_end(count),
            None => window.shows(at),
        };
        is_shown && !omits_lines(&listed.call)
    });
    let in_full = in_full.collect();
    Some(ListPanel { blanks, title, rows: shown, below, in_full, count, page })
}

/// Which rows of the calls are shown.
struct Window {
    first: usize,
    page: usize,
    /// The first row of each call, and the first one after it.
    places: Vec<(usize, usize)>,
}

impl Window {
    fn new(entries: &[Vec<Line<'static>>], list: &CallList, page: usize) -> Self {
        let ends = entries.iter().scan(0, |end, entry| {
            *end += entry.len();
            Some((*end - entry.len(), *end))
        });
        let places: Vec<(usize, usize)> = ends.collect();
        let count = places.last().map_or(0, |(_, end)| *end);
        let first = match list.opened {
            Some(scrolled) => scrolled.min(count.saturating_sub(page)),
            // The selected call, from its first row on; whole calls before it.
            None => {
                let (begin, end) = places.get(list.selected).copied().unwrap_or_default();
                let least = end.saturating_sub(page).min(begin);
                places.iter().map(|(begin, _)| *begin).find(|begin| *begin >= least).unwrap_or(begin)
            }
        };
        Self { first, page, places }
    }

    fn rows(&self, entries: &[Vec<Line<'static>>]) -> Vec<Line<'static>> {
        entries.iter().flatten().skip(self.first).take(self.page).cloned().collect()
    }

    fn shows(&self, at: usize) -> bool {
        self.places.get(at).is_some_and(|(begin, end)| *begin >= self.first && *end <= self.first + self.page)
    }

    fn shows_end(&self, count: usize) -> bool {
        self.first + self.page >= count
    }

    /// Which of all rows or calls are shown.
    fn place(&self, list: &CallList, count: usize) -> String {
        let end = (self.first + self.page).min(count);
        match list.opened {
            Some(_) => format!("  rows {} to {end} of {count}", self.first + 1),
            None if self.shows(list.selected) => format!("  call {} of {}", list.selected + 1, list.calls.len()),
            None => format!("  call {} of {}, cut: o opens it", list.selected + 1, list.calls.len()),
        }
    }
}

fn title(list: &CallList) -> String {
    let reason = list.calls.first().map(|listed| listed.call.reason.as_str()).unwrap_or_default();
    format!("{} calls are asked about ({reason})", list.calls.len())
}

/// Further calls that may be asked about later.
fn waiting(model: &Model, question: &Question, list: &CallList) -> Vec<Line<'static>> {
    let more = (question.waiting + 1).saturating_sub(list.calls.len());
    let words = format!("{} after them", counted(more, "more call comes", "more calls come"));
    if more == 0 { Vec::new() } else { rows(model, &words, Token::Muted) }
}

fn keys(question: &Question, list: &CallList, answer: &str) -> (Vec<String>, Vec<&'static str>) {
    if question.stage != QuestionStage::Answering {
        return (vec![format!("{answer} answers · typing goes to the text below")], vec!["tab answers"]);
    }
    match list.opened {
        Some(_) => {
            (vec!["up, down · y allow · space changes · o back".to_owned()], vec!["up, down · y allow · o back"])
        }
        None => (
            vec![
                "space allow, refuse, ask · y allow · a allow all shown · n refuse all".to_owned(),
                format!("o opens one · enter decides as marked · {answer} back to the text"),
            ],
            vec!["space, y · a all shown · n none", "o opens · enter decides"],
        ),
    }
}

/// A call with its mark: in a row, or with its text below.
fn entry(model: &Model, list: &CallList, (at, listed): (usize, &ListedCall)) -> Vec<Line<'static>> {
    let ListedCall { call: shown, mark, .. } = listed;
    let is_selected = at == list.selected;
    let cursor = if is_selected { "›" } else { " " };
    let (word, token) = match mark {
        CallMark::ByItself => ("ask", Token::Muted),
        CallMark::Allow => ("allow", Token::Success),
        CallMark::Refuse => ("refuse", Token::Error),
    };
    let own_reason = list.calls.first().is_none_or(|first| first.call.reason != shown.reason);
    let room = usize::from(model.size.width).saturating_sub(MARK + 2);
    let short = Some(in_a_row(shown))
        .filter(|text| !text.contains('\n') && width(text) <= room && shown.diff.is_none() && shown.beside.is_empty());
    let head = match (&short, &shown.diff) {
        (Some(text), _) => text.clone(),
        (None, Some(_)) => format!("{} {}", shown.tool, shown.what),
        (None, None) => shown.tool.clone(),
    };
    let mut lines = rows(model, &format!("{cursor} {word:<6}  {head}"), if is_selected { Token::Text } else { token });
    if short.is_none() {
        lines.extend(call(model, shown, INDENT));
    }
    if own_reason {
        lines.extend(rows(model, &format!("{INDENT}({})", shown.reason), Token::Warning));
    }
    lines
}

fn in_a_row(shown: &AskedCall) -> String {
    if shown.is_command() { shown.what.clone() } else { format!("{} {}", shown.tool, shown.what) }
}
