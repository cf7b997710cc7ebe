//! What somebody gave an operation, and the arguments that it takes. Knows no front end.

use std::fmt;
use std::path::PathBuf;

/// What a value means: how it is looked up, and what is offered for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgKind {
    /// A path, an id or its unique start or end, a name, or `latest`.
    Session,
    /// An id or its unique start, a label, `@`, a time.
    Entry,
    /// An entry, or A..B.
    EntryRange,
    /// Any text.
    Text,
    /// Any text but an empty one.
    FilledText,
    /// The path of a file.
    File,
    /// The path of a folder.
    Folder,
    /// A whole number.
    Number,
    /// A number of bytes, such as `200k`.
    Size,
    /// There or not.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
}

/// Where a command line has it. Other front ends need only its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgForm {
    /// By its place.
    Positional,
    /// `--name VALUE`, perhaps also `-n VALUE`.
    Option {
        /// The name of the value in the help.
        value: &'static str,
        /// The short name.
        short: Option<char>,
    },
    /// `--name`, perhaps also `-n`.
    Flag {
        /// The short name.
        short: Option<char>,
    },
}

/// The name of the option of a command line that prints JSON, which other front ends do not have. Rules may name it.
pub const JSON_FLAG: &str = "json";

/// The name of the option of a command line that only plans. Rules may name it, as [`JSON_FLAG`].
pub const DRY_RUN_FLAG: &str = "dry_run";

/// An argument of an operation.
#[derive(Debug, Clone, Copy)]
pub struct Arg {
    /// In `snake_case`, unique in its operation.
    pub name: &'static str,
    /// Its name with hyphens, as command lines have options.
    pub hyphened: &'static str,
    /// Its name in capitals, as helps have what stands by its place.
    pub capitals: &'static str,
    /// Its help, line by line.
    pub says: &'static [&'static str],
    /// What its values mean.
    pub kind: ArgKind,
    /// Where a command line has it.
    pub form: ArgForm,
    /// Whether the operation needs it.
    pub is_needed: bool,
    /// Whether it can be given several times.
    pub is_many: bool,
    /// Names of arguments with which it cannot stand.
    pub conflicts: &'static [&'static str],
    /// Names of arguments without which it cannot stand.
    pub requires: &'static [&'static str],
    /// Names of arguments instead of which it is not needed.
    pub unless: &'static [&'static str],
    /// Whether a command line that has it prints JSON.
    pub prints_json: bool,
}

impl Arg {
    /// Whether it, or one of those instead of which it is not needed, must be given.
    #[must_use]
    pub fn must_be_given(&self) -> bool {
        self.is_needed || !self.unless.is_empty()
    }

    pub(crate) fn is_missing(&self, given: &Given) -> bool {
        self.must_be_given() && !given.has(self.name) && !self.unless.iter().any(|name| given.has(name))
    }

    /// The same, needed also if its type needs a value.
    #[doc(hidden)]
    #[must_use]
    pub const fn needed(self, by_type: bool) -> Self {
        Self { is_needed: self.is_needed || by_type, ..self }
    }

    /// Before the attributes of a field are applied.
    pub const PLAIN: Self = Self {
        name: "",
        hyphened: "",
        capitals: "",
        says: &[],
        kind: ArgKind::Text,
        form: ArgForm::Positional,
        is_needed: false,
        is_many: false,
        conflicts: &[],
        requires: &[],
        unless: &[],
        prints_json: false,
    };
}

/// A value of an argument, as a front end read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgValue {
    /// One text.
    Text(String),
    /// Several texts.
    Many(Vec<String>),
    /// A whole number.
    Number(u64),
    /// The flag is there.
    Flag,
    /// A path as it was typed, which may be no text.
    Path(PathBuf),
}

/// Values by the names of arguments. Front ends fill it, inputs empty it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Given(Vec<(&'static str, ArgValue)>);

impl Given {
    /// Gives a value; the last one of a name counts.
    pub fn put(&mut self, name: &'static str, value: ArgValue) {
        self.take(name);
        self.0.push((name, value));
    }

    /// Gives a text.
    pub fn put_text(&mut self, name: &'static str, text: impl Into<String>) {
        self.put(name, ArgValue::Text(text.into()));
    }

    /// Whether the argument was given.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(known, _)| *known == name)
    }

    /// The text that was given; `None` of other values.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| *known == name).and_then(|(_, value)| match value {
            ArgValue::Text(text) => Some(text.as_str()),
            ArgValue::Many(_) | ArgValue::Number(_) | ArgValue::Flag | ArgValue::Path(_) => None,
        })
    }

    /// The texts that were given, one or several; none of other values.
    #[must_use]
    pub fn texts(&self, name: &str) -> Vec<String> {
        self.0.iter().find(|(known, _)| *known == name).map_or_else(Vec::new, |(_, value)| match value {
            ArgValue::Text(text) => vec![text.clone()],
            ArgValue::Many(all) => all.clone(),
            ArgValue::Number(_) | ArgValue::Flag | ArgValue::Path(_) => Vec::new(),
        })
    }

    /// Takes the value out.
    pub fn take(&mut self, name: &str) -> Option<ArgValue> {
        let at = self.0.iter().position(|(known, _)| *known == name)?;
        Some(self.0.swap_remove(at).1)
    }
}

/// Why what was given is no input. Front ends may put it into their own words, such as `--clear` or `"clear"`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Misuse {
    /// The argument is needed.
    Missing(&'static str),
    /// The value has another form.
    Wrong {
        /// The argument.
        name: &'static str,
        /// Such as `a whole number`.
        expected: String,
    },
    /// The two cannot stand together.
    Conflict(&'static str, &'static str),
    /// The first needs the second.
    Alone(&'static str, &'static str),
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(name) => write!(f, "the argument {name:?} is missing"),
            Self::Wrong { name, expected } => write!(f, "the argument {name:?} must be {expected}"),
            Self::Conflict(one, other) => write!(f, "{one:?} cannot stand with {other:?}"),
            Self::Alone(name, other) => write!(f, "{name:?} goes with {other:?}"),
        }
    }
}

/// A type that arguments can have.
pub trait Field: Sized {
    /// What its values mean.
    const KIND: ArgKind;
    /// Whether it must be given.
    const NEEDED: bool = true;
    /// Whether it can be given several times.
    const MANY: bool = false;

    /// Reads what was given for the argument.
    ///
    /// # Errors
    /// It is missing, or has another form.
    fn take(name: &'static str, value: Option<ArgValue>) -> Result<Self, Misuse>;
}

fn wrong(name: &'static str, expected: impl Into<String>) -> Misuse {
    Misuse::Wrong { name, expected: expected.into() }
}

macro_rules! text_fields {
    ($($(#[doc = $doc:literal])* $name:ident: $kind:ident;)*) => {$(
        $(#[doc = $doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name(pub String);

        impl Field for $name {
            const KIND: ArgKind = ArgKind::$kind;

            fn take(name: &'static str, value: Option<ArgValue>) -> Result<Self, Misuse> {
                match value {
                    Some(ArgValue::Text(text)) => Ok(Self(text)),
                    None => Err(Misuse::Missing(name)),
                    Some(ArgValue::Many(_) | ArgValue::Number(_) | ArgValue::Flag | ArgValue::Path(_)) => {
                        Err(wrong(name, "a text"))
                    }
                }
            }
        }
    )*};
}

macro_rules! path_fields {
    ($($(#[doc = $doc:literal])* $name:ident: $kind:ident;)*) => {$(
        $(#[doc = $doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name(pub PathBuf);

        impl Field for $name {
            const KIND: ArgKind = ArgKind::$kind;

            fn take(name: &'static str, value: Option<ArgValue>) -> Result<Self, Misuse> {
                match value {
                    Some(ArgValue::Path(path)) => Ok(Self(path)),
                    other => Text::take(name, other).map(|Text(text)| Self(text.into())),
                }
            }
        }
    )*};
}

text_fields! {
    /// A path, an id or its unique start or end, a name, or `latest`.
    SessionName: Session;
    /// An id or its unique start, a label, `@`, a time.
    EntryName: Entry;
    /// An entry, or A..B.
    EntryRange: EntryRange;
    /// Any text.
    Text: Text;
}

path_fields! {
    /// The path of a file.
    FileName: File;
    /// The path of a folder.
    FolderName: Folder;
}

/// Any text but an empty one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilledText(pub String);

impl Field for FilledText {
    const KIND: ArgKind = ArgKind::FilledText;

    fn take(name: &'static str, value: Option<ArgValue>) -> Result<Self, Misuse> {
        let Text(text) = Text::take(name, value)?;
        if text.is_empty() { Err(wrong(name, "a text that is not empty")) } else { Ok(Self(text)) }
    }
}

/// A number of bytes: `500`, `200k`, `1.5M`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteSize(pub u64);

impl ByteSize {
    /// Reads it.
    ///
    /// # Errors
    /// In words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = match text.get(number.len()..).unwrap_or_default().to_ascii_lowercase().as_str() {
            "" | "b" => 1e0,
            "k" | "kb" => 1e3,
            "m" | "mb" => 1e6,
            "g" | "gb" => 1e9,
            unit => return Err(format!("{unit:?} is not a unit: use k, M or G")),
        };
        match number.parse::<f64>() {
            Ok(number) if number >= 0.0 && number.is_finite() => Ok(Self((number * unit) as u64)),
            _ => Err("give a number of bytes, such as 500, 200k or 1.5M".to_owned()),
        }
    }
}

impl Field for ByteSize {
    const KIND: ArgKind = ArgKind::Size;

    fn take(name: &'static str, value: Option<ArgValue>) -> Result<Self, Misuse> {
        let Text(text) = Text::take(name, value)?;
        Self::parse(&text).map_err(|_| wrong(name, "a number of bytes, such as 500, 200k or 1.5M"))
    }
}

impl Field for bool {
    const KIND: ArgKind = ArgKind::Flag;
    const NEEDED: bool = false;

    fn take(name: &'static str, value: Option<ArgValue>) -> Result<Self, Misuse> {
        match value {
            None => Ok(false),
            Some(ArgValue::Flag) => Ok(true),
            Some(ArgValue::Text(_) | ArgValue::Many(_) | ArgValue::Number(_) | ArgValue::Path(_)) => {
                Err(wrong(name, "true or false"))
            }
        }
    }
}

impl Field for u64 {
    const KIND: ArgKind = ArgKind::Number;

    fn take(name: &'static str, value: Option<ArgValue>) -> Result<Self, Misuse> {
        match value {
            Some(ArgValue::Number(number)) => Ok(number),
            Some(ArgValue::Text(text)) => text.parse().map_err(|_| wrong(name, "a whole number")),
            None => Err(Misuse::Missing(name)),
            Some(ArgValue::Many(_) | ArgValue::Flag | ArgValue::Path(_)) => Err(wrong(name, "a whole number")),
        }
    }
}

impl Field for usize {
    const KIND: ArgKind = ArgKind::Number;

    fn take(name: &'static str, value: Option<ArgValue>) -> Result<Self, Misuse> {
        // More than this machine can count is as much as there is.
        u64::take(name, value).map(|number| Self::try_from(number).unwrap_or(Self::MAX))
    }
}

impl<T: Field> Field for Option<T> {
    const KIND: ArgKind = T::KIND;
    const NEEDED: bool = false;

    fn take(name: &'static str, value: Option<ArgValue>) -> Result<Self, Misuse> {
        value.map(|value| T::take(name, Some(value))).transpose()
    }
}

impl<T: Field> Field for Vec<T> {
    const KIND: ArgKind = T::KIND;
    const NEEDED: bool = false;
    const MANY: bool = true;

    fn take(name: &'static str, value: Option<ArgValue>) -> Result<Self, Misuse> {
        match value {
            None => Ok(Vec::new()),
            Some(ArgValue::Many(all)) => all.into_iter().map(|one| T::take(name, Some(ArgValue::Text(one)))).collect(),
            Some(one) => Ok(vec![T::take(name, Some(one))?]),
        }
    }
}

/// A closed set of words as the type of an argument: each variant is written as its word. Also for an enum that exists: it is
/// read by `parse`.
#[macro_export]
macro_rules! closed_words {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[doc = $doc:literal])* $variant:ident = $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $vis enum $name { $($(#[doc = $doc])* $variant,)* }

        impl $name {
            const WORDS: &'static [&'static str] = &[$($word),*];

            fn parse(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }

        $crate::closed_words!($name, $name::WORDS);
    };
    ($name:ty, $words:expr) => {
        impl $crate::Field for $name {
            const KIND: $crate::ArgKind = $crate::ArgKind::Word($words);

            fn take(name: &'static str, value: Option<$crate::ArgValue>) -> ::std::result::Result<Self, $crate::Misuse> {
                let $crate::Text(word) = $crate::Field::take(name, value)?;
                let expected = || format!("one of {}", ($words as &[&str]).join(", "));
                <$name>::parse(&word).ok_or_else(|| $crate::Misuse::Wrong { name, expected: expected() })
            }
        }
    };
}
