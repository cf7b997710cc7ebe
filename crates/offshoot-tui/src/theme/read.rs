//! Reads theme files. Reports all errors at once, each with its position.

use std::collections::HashMap;
use std::fmt;

use offshoot_session::text::counted;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{Colour, PageTheme, Theme, Token, perceptual};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// One sentence, lower case, without full stop.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot read the theme {file}: {}", named(.problems))]
pub struct ThemeError {
    pub file: String,
    /// In the order of the file.
    pub problems: Vec<Problem>,
}

/// `appearance` is for pi: the colours say it here.
const MEMBERS: [&str; 6] = ["$schema", "name", "appearance", "vars", "colors", "export"];
/// A message names no more problems.
const MOST_NAMED: usize = 4;

/// The first ones, and the number of the others.
fn named(problems: &[Problem]) -> String {
    let mut named: Vec<String> = problems.iter().take(MOST_NAMED).map(ToString::to_string).collect();
    let more = problems.len() - named.len();
    named.extend((more > 0).then(|| format!("and {}", counted(more, "other problem", "other problems"))));
    named.join("; ")
}

pub(super) fn read(text: &str, file: &str) -> Result<(Theme, Vec<Problem>), ThemeError> {
    read_with(text, file, Reader::theme)
}

pub(super) fn read_page(text: &str, file: &str) -> Result<(PageTheme, Vec<Problem>), ThemeError> {
    read_with(text, file, Reader::page)
}

fn read_with<'a, T>(
    text: &'a str,
    file: &str,
    take: impl FnOnce(&mut Reader<'a>) -> Option<T>,
) -> Result<(T, Vec<Problem>), ThemeError> {
    let mut reader = Reader { text, wrong: Vec::new(), odd: Vec::new() };
    let taken = take(&mut reader);
    let in_order = |mut problems: Vec<Problem>| {
        problems.sort_by_key(|problem| (problem.line, problem.column));
        problems
    };
    match taken {
        Some(taken) if reader.wrong.is_empty() => Ok((taken, in_order(reader.odd))),
        _ => Err(ThemeError { file: file.to_owned(), problems: in_order(reader.wrong) }),
    }
}

struct Reader<'a> {
    text: &'a str,
    wrong: Vec<Problem>,
    odd: Vec<Problem>,
}

#[derive(Clone, Copy)]
struct ThemeValue<'a> {
    raw: &'a RawValue,
}

struct Members<'a>(Vec<(String, ThemeValue<'a>)>);

impl<'a> Reader<'a> {
    fn theme(&mut self) -> Option<Theme> {
        let top = self.top()?;
        let member = |name: &str| top.iter().find(|(found, _)| found == name).map(|(_, value)| *value);
        let name = self.name(member("name"));
        let vars = self.object(member("vars"), "vars", "variable");
        let colours = match member("colors") {
            Some(value) => self.object(Some(value), "colors", "token"),
            None => {
                self.wrong_at_end("`colors` is missing: give each token its colour".to_owned());
                return None;
            }
        };
        let vars: HashMap<_, _> = vars.into_iter().collect();
        for value in vars.values() {
            self.literal(*value);
        }
        let colours = self.colours(colours, &vars, member("colors"))?;
        Some(Theme::of(name?, colours))
    }

    fn page(&mut self) -> Option<PageTheme> {
        let top = self.top()?;
        let member = |name: &str| top.iter().find(|(found, _)| found == name).map(|(_, value)| *value);
        let vars: HashMap<_, _> = self.object(member("vars"), "vars", "variable").into_iter().collect();
        let Some(given) = member("export") else {
            self.wrong_at_end("`export` is missing: give it `pageBg`, `cardBg` or `infoBg`".to_owned());
            return None;
        };
        let mut page = PageTheme::default();
        for (name, value) in self.object(Some(given), "export", "colour") {
            let place = match name.as_str() {
                "pageBg" => &mut page.page,
                "cardBg" => &mut page.card,
                "infoBg" => &mut page.info,
                _ => {
                    self.odd(value, format!("pages have no colour `{name}`; it is ignored"));
                    continue;
                }
            };
            *place = self.colour(value, &vars)?.rgb();
        }
        Some(page)
    }

    /// The members of the file.
    fn top(&mut self) -> Option<Vec<(String, ThemeValue<'a>)>> {
        let top = match serde_json::from_str::<Members<'a>>(self.text) {
            Ok(members) => self.once(members, "member"),
            Err(error) => {
                let (line, column) = (error.line().max(1), error.column().max(1));
                let what = error.to_string();
                let what = what.split(" at line ").next().unwrap_or_default();
                self.wrong.push(Problem { line, column, message: format!("this is not a JSON object: {what}") });
                return None;
            }
        };
        for (name, value) in &top {
            if !MEMBERS.contains(&name.as_str()) {
                self.odd(*value, format!("`{name}` is not a member of a theme: it is not looked at"));
            }
        }
        Some(top)
    }

    fn name(&mut self, value: Option<ThemeValue<'a>>) -> Option<String> {
        let Some(value) = value else {
            self.wrong_at_end("`name` is missing".to_owned());
            return None;
        };
        match serde_json::from_str::<String>(value.raw.get()) {
            Ok(name) if name.is_empty() => self.wrong(value, "the name is empty".to_owned()),
            Ok(name) if name.contains('/') => {
                self.wrong(
                    value,
                    format!("the name {name:?} holds a `/`, which stands between a light and a dark theme"),
                );
            }
            Ok(name) => return Some(name),
            Err(_) => self.wrong(value, "the name must be a string".to_owned()),
        }
        None
    }

    fn object(&mut self, value: Option<ThemeValue<'a>>, name: &str, what: &str) -> Vec<(String, ThemeValue<'a>)> {
        let Some(value) = value else { return Vec::new() };
        match serde_json::from_str::<Members<'a>>(value.raw.get()) {
            Ok(members) => self.once(members, what),
            Err(_) => {
                self.wrong(value, format!("`{name}` must be an object"));
                Vec::new()
            }
        }
    }

    /// Of duplicate members the last one counts, as in most JSON readers.
    fn once(&mut self, members: Members<'a>, what: &str) -> Vec<(String, ThemeValue<'a>)> {
        let mut seen: Vec<(String, ThemeValue<'a>)> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for (name, value) in members.0 {
            if let Some(before) = places.get(&name).and_then(|at| seen.get_mut(*at)) {
                before.1 = value;
                self.odd(value, format!("the {what} `{name}` is given twice: this one counts"));
            } else {
                places.insert(name.clone(), seen.len());
                seen.push((name, value));
            }
        }
        seen
    }

    fn colours(
        &mut self,
        given: Vec<(String, ThemeValue<'a>)>,
        vars: &HashMap<String, ThemeValue<'a>>,
        place: Option<ThemeValue<'a>>,
    ) -> Option<[Colour; Token::COUNT]> {
        let mut found: [Option<Colour>; Token::COUNT] = [None; Token::COUNT];
        let mut named = [false; Token::COUNT];
        for (name, value) in given {
            let Some(token) = Token::named(&name) else {
                self.odd(value, format!("there is no token `{name}`: it is not looked at"));
                continue;
            };
            named[token as usize] = true;
            found[token as usize] = self.colour(value, vars);
        }
        let missing: Vec<_> =
            Token::ALL.into_iter().filter(|token| !named[*token as usize] && token.fallback().is_none()).collect();
        if let (false, Some(place)) = (missing.is_empty(), place) {
            let names: Vec<_> = missing.into_iter().map(|token| format!("`{}`", token.name())).collect();
            let tokens = counted(names.len(), "token is", "tokens are");
            self.wrong(place, format!("{tokens} missing: {}", names.join(", ")));
        }
        let mut colours = [Colour::Default; Token::COUNT];
        for token in Token::ALL {
            let own = found[token as usize];
            let colour = own.or_else(|| token.fallback().and_then(|other| found[other as usize]));
            colours[token as usize] = colour.unwrap_or(Colour::Default);
        }
        self.wrong.is_empty().then_some(colours)
    }

    fn colour(&mut self, value: ThemeValue<'a>, vars: &HashMap<String, ThemeValue<'a>>) -> Option<Colour> {
        let mut at = value;
        // A chain longer than the number of variables is a cycle.
        for _ in 0..=vars.len() {
            match self.literal(at)? {
                Literal::Colour(colour) => return Some(colour),
                Literal::Variable(name) => match vars.get(name.as_str()) {
                    Some(next) => at = *next,
                    None => {
                        self.wrong(at, format!("the variable `{name}` is not defined: write a `#rrggbb`, a number from 0 to 255, \"\" or a name from `vars`"));
                        return None;
                    }
                },
            }
        }
        self.wrong(at, format!("the variable {} leads back to itself", at.raw.get()));
        None
    }

    fn literal(&mut self, value: ThemeValue<'a>) -> Option<Literal> {
        let raw = value.raw.get();
        if let Ok(text) = serde_json::from_str::<String>(raw) {
            return match text.as_str() {
                "" => Some(Literal::Colour(Colour::Default)),
                hex if hex.starts_with('#') => {
                    let colour = Colour::of_hex(hex);
                    if colour.is_none() {
                        self.wrong(value, format!("{raw} is not a colour: write `#` and six hexadecimal digits"));
                    }
                    colour.map(Literal::Colour)
                }
                function if perceptual::is_meant(function) => {
                    let colour = Colour::of_function(function);
                    if colour.is_none() {
                        let why = "write `okhsl(HUE SATURATION% LIGHTNESS%)` or `oklch(LIGHTNESS% CHROMA HUE)`";
                        self.wrong(value, format!("{raw} is not a colour: {why}"));
                    }
                    colour.map(Literal::Colour)
                }
                _ => Some(Literal::Variable(text)),
            };
        }
        let index = serde_json::from_str::<f64>(raw).ok().filter(|number| number.fract() == 0.0);
        let index = index.and_then(|number| (0..=255).find(|index| f64::from(*index) == number));
        if index.is_none() {
            self.wrong(value, format!("{} is not a colour: write a number from 0 to 255, or a string", shortened(raw)));
        }
        index.map(|index| Literal::Colour(Colour::Index(index)))
    }

    fn wrong(&mut self, value: ThemeValue<'a>, message: String) {
        let problem = self.problem(self.offset(value), message);
        // An invalid variable is reported once, not for each use.
        if !self.wrong.contains(&problem) {
            self.wrong.push(problem);
        }
    }

    fn wrong_at_end(&mut self, message: String) {
        let problem = self.problem(self.text.trim_end().len().saturating_sub(1), message);
        self.wrong.push(problem);
    }

    fn odd(&mut self, value: ThemeValue<'a>, message: String) {
        let problem = self.problem(self.offset(value), message);
        self.odd.push(problem);
    }

    /// Every value is a slice of the text, so its address gives its position.
    fn offset(&self, value: ThemeValue<'a>) -> usize {
        value.raw.get().as_ptr().addr().saturating_sub(self.text.as_ptr().addr())
    }

    fn problem(&self, offset: usize, message: String) -> Problem {
        let before = self.text.get(..offset).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        Problem { line, column: before[line_start..].chars().count() + 1, message }
    }
}

enum Literal {
    Colour(Colour),
    Variable(String),
}

fn shortened(raw: &str) -> String {
    crate::text::fit(&raw.split_whitespace().collect::<String>(), 24).into_owned()
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some((name, raw)) = map.next_entry::<String, &'de RawValue>()? {
                    members.push((name, ThemeValue { raw }));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}
