//! The filters of a query: which documents are looked at. One table has their names and values.

use super::BadQuery;

/// Which documents are looked at. An empty list looks at all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filters {
    /// The programs whose sessions are searched.
    pub agents: Vec<String>,
    /// Who said it.
    pub spoken_by: Vec<SpokenBy>,
    /// The tools whose calls and results are searched.
    pub tools: Vec<String>,
    /// Parts of paths that a call names.
    pub files: Vec<String>,
    /// The folders of the sessions; any if there are none. A query names one.
    pub folders: Vec<String>,
    /// The git branches on which the sessions began.
    pub git_branches: Vec<String>,
    /// Parts of the names of models.
    pub models: Vec<String>,
    /// Starts of the ids of sessions.
    pub sessions: Vec<String>,
    /// The first time, in milliseconds.
    pub since: Option<i64>,
    /// The time before which it was said, in milliseconds.
    pub until: Option<i64>,
    /// Only what is on the way to the session's leaf.
    pub is_on_path: bool,
    /// Only what failed.
    pub is_error: bool,
    /// Only what has a picture.
    pub has_picture: bool,
    /// The order of the hits.
    pub sort: Option<SortOrder>,
    /// How many hits there are at most.
    pub limit: Option<usize>,
}

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum SpokenBy {
    User,
    Assistant,
    /// Calls and their results.
    Tool,
    Thinking,
    Summary,
    Title,
}

/// The order of hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SortOrder {
    /// The best ones first.
    #[default]
    Rank,
    /// The newest ones first.
    New,
    /// The oldest ones first.
    Old,
}

/// The names of filters.
const NAMES: [&str; 15] = [
    "agent", "role", "tool", "file", "cwd", "branch", "on", "since", "until", "model", "session", "is", "has", "sort",
    "limit",
];

const ROLES: [(&str, SpokenBy); 6] = [
    ("user", SpokenBy::User),
    ("assistant", SpokenBy::Assistant),
    ("tool", SpokenBy::Tool),
    ("thinking", SpokenBy::Thinking),
    ("summary", SpokenBy::Summary),
    ("title", SpokenBy::Title),
];

const ORDERS: [(&str, SortOrder); 3] = [("rank", SortOrder::Rank), ("new", SortOrder::New), ("old", SortOrder::Old)];

/// The filter's name with which a text begins, if a value follows it.
pub(super) fn name_of(text: &str) -> Option<&str> {
    let (name, after) = text.split_once(':')?;
    let has_value = after.chars().next().is_some_and(|c| !c.is_whitespace());
    (NAMES.contains(&name) && has_value).then_some(name)
}

impl Filters {
    pub(super) fn read(&mut self, name: &str, value: &str, when: &dyn Fn(&str) -> Option<i64>) -> Result<(), BadQuery> {
        let many = || value.split(',').filter(|part| !part.is_empty()).map(str::to_owned);
        let time = || {
            let help = "an age such as 7d, or a date such as 2026-09-01";
            when(value).ok_or_else(|| BadQuery::new(format!("{name}:{value} is not a time: {help}")))
        };
        match name {
            "agent" => self.agents.extend(many()),
            "tool" => self.tools.extend(many()),
            "file" => self.files.extend(many()),
            "branch" => self.git_branches.extend(many()),
            "model" => self.models.extend(many()),
            "session" => self.sessions.extend(many()),
            "cwd" => self.folders = vec![value.to_owned()],
            "since" => self.since = Some(time()?),
            "until" => self.until = Some(time()?),
            "role" => {
                for one in many() {
                    self.spoken_by.push(one_of(name, &one, &ROLES)?);
                }
            }
            "on" => self.is_on_path |= one_of(name, value, &[("leaf", true)])?,
            "is" => self.is_error |= one_of(name, value, &[("error", true)])?,
            "has" => self.has_picture |= one_of(name, value, &[("image", true)])?,
            "sort" => self.sort = Some(one_of(name, value, &ORDERS)?),
            "limit" => {
                let count = value.parse().ok().filter(|count| *count > 0);
                self.limit =
                    Some(count.ok_or_else(|| BadQuery::new(format!("limit:{value} is not a number above 0")))?);
            }
            _ => {}
        }
        Ok(())
    }
}

fn one_of<T: Copy>(name: &str, value: &str, table: &[(&str, T)]) -> Result<T, BadQuery> {
    let found = table.iter().find(|(word, _)| *word == value).map(|(_, meant)| *meant);
    found.ok_or_else(|| {
        let words: Vec<String> = table.iter().map(|(word, _)| format!("{name}:{word}")).collect();
        BadQuery::new(format!("{name}:{value}: there is {}", words.join(", ")))
    })
}
