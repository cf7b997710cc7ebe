//! What somebody gave an operation, and the arguments that it takes. Knows no front end.

use std::fmt;

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
    /// The path of a folder.
    Folder,
    /// A whole number.
    Number,
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
    /// `--name`.
    Flag,
}

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
            ArgValue::Many(_) | ArgValue::Number(_) | ArgValue::Flag => None,
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
                    Some(ArgValue::Many(_) | ArgValue::Number(_) | ArgValue::Flag) => Err(wrong(name, "a text")),
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
    /// The path of a folder.
    FolderName: Folder;
}

impl Field for bool {
    const KIND: ArgKind = ArgKind::Flag;
    const NEEDED: bool = false;

    fn take(name: &'static str, value: Option<ArgValue>) -> Result<Self, Misuse> {
        match value {
            None => Ok(false),
            Some(ArgValue::Flag) => Ok(true),
            Some(ArgValue::Text(_) | ArgValue::Many(_) | ArgValue::Number(_)) => Err(wrong(name, "true or false")),
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
            Some(ArgValue::Many(_) | ArgValue::Flag) => Err(wrong(name, "a whole number")),
        }
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

/// What an operation gets. Made by [`input!`](crate::input).
pub trait Input: Sized + Send + 'static {
    /// Its arguments, in the order of the help.
    const ARGS: &'static [Arg];

    /// Takes its own out of what was given, whatever the rules between arguments say.
    ///
    /// # Errors
    /// An argument is missing, or has another form.
    fn take_own(given: &mut Given) -> Result<Self, Misuse>;

    /// Reads what was given.
    ///
    /// # Errors
    /// An argument is missing, has another form, or stands with or without another that it must not or needs.
    fn take(mut given: Given) -> Result<Self, Misuse> {
        check_given(Self::ARGS, &given)?;
        Self::take_own(&mut given)
    }
}

/// The arguments of these groups in one list, which has their number.
#[doc(hidden)]
#[must_use]
pub const fn joined_args<const N: usize>(groups: &[&[Arg]]) -> [Arg; N] {
    let mut all = [Arg::PLAIN; N];
    let (mut group, mut at) = (0, 0);
    while group < groups.len() {
        let mut own = 0;
        while own < groups[group].len() {
            all[at] = groups[group][own];
            (own, at) = (own + 1, at + 1);
        }
        group += 1;
    }
    all
}

/// The number of arguments of these groups.
#[doc(hidden)]
#[must_use]
pub const fn count_args(groups: &[&[Arg]]) -> usize {
    let (mut group, mut count) = (0, 0);
    while group < groups.len() {
        count += groups[group].len();
        group += 1;
    }
    count
}

/// The rules between arguments, once for all front ends.
///
/// # Errors
/// One of them is broken.
pub fn check_given(args: &'static [Arg], given: &Given) -> Result<(), Misuse> {
    for arg in args {
        if arg.is_missing(given) {
            return Err(Misuse::Missing(arg.name));
        }
        if !given.has(arg.name) {
            continue;
        }
        if let Some(other) = arg.conflicts.iter().find(|name| given.has(name)) {
            return Err(Misuse::Conflict(arg.name, other));
        }
        if let Some(other) = arg.requires.iter().find(|name| !given.has(name)) {
            return Err(Misuse::Alone(arg.name, other));
        }
    }
    Ok(())
}

/// A letter of a name with hyphens.
#[doc(hidden)]
#[must_use]
pub const fn hyphened(letter: u8) -> u8 {
    if letter == b'_' { b'-' } else { letter }
}

/// A letter of a name in capitals.
#[doc(hidden)]
#[must_use]
pub const fn capitals(letter: u8) -> u8 {
    letter.to_ascii_uppercase()
}

/// A name whose letters are written in another way, made when the program is compiled.
#[doc(hidden)]
#[macro_export]
macro_rules! respelled {
    ($name:expr, $letter:ident) => {{
        const LETTERS: [u8; $name.len()] = {
            let mut letters = [0; $name.len()];
            let mut at = 0;
            while at < letters.len() {
                letters[at] = $crate::$letter($name.as_bytes()[at]);
                at += 1;
            }
            letters
        };
        match ::std::str::from_utf8(&LETTERS) {
            Ok(name) => name,
            Err(_) => $name,
        }
    }};
}

/// The arguments of an operation: a struct, and what front ends know of it. Doc comments are the help.
///
/// A field is `name: Type = arg`, `= option ("VALUE")`, `= option ("VALUE" 'n')` or `= flag`; rules follow in the
/// parentheses: `conflicts [..]`, `requires [..]`, `unless [..]`. `name: Type = group` has the arguments of another input.
#[macro_export]
macro_rules! input {
    ($(#[$meta:meta])* $vis:vis struct $name:ident {
        $($(#[doc = $doc:literal])* $field:ident: $type:ty = $form:ident $(($($attr:tt)*))?,)*
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone)]
        $vis struct $name { $($(#[doc = $doc])* pub $field: $type,)* }

        impl $crate::Input for $name {
            const ARGS: &'static [$crate::Arg] = {
                const GROUPS: &[&[$crate::Arg]] = &[$($crate::field_args!([$($doc)*] $field $type, $form $($($attr)*)?),)*];
                &$crate::joined_args::<{ $crate::count_args(GROUPS) }>(GROUPS)
            };

            fn take_own(given: &mut $crate::Given) -> ::std::result::Result<Self, $crate::Misuse> {
                Ok(Self { $($field: $crate::take_field!(given $field $type, $form),)* })
            }
        }
    };
}

/// The arguments of a field of [`input!`](crate::input).
#[doc(hidden)]
#[macro_export]
macro_rules! field_args {
    ([$($doc:literal)*] $field:ident $type:ty, group) => { <$type as $crate::Input>::ARGS };
    ([$($doc:literal)*] $field:ident $type:ty, $form:ident $($attr:tt)*) => {
        &[$crate::Arg {
            name: stringify!($field),
            hyphened: $crate::respelled!(stringify!($field), hyphened),
            capitals: $crate::respelled!(stringify!($field), capitals),
            says: &[$($doc),*],
            kind: <$type as $crate::Field>::KIND,
            is_needed: <$type as $crate::Field>::NEEDED,
            is_many: <$type as $crate::Field>::MANY,
            ..$crate::arg_form!($form $($attr)*)
        }]
    };
}

/// What was given for a field of [`input!`](crate::input).
#[doc(hidden)]
#[macro_export]
macro_rules! take_field {
    ($given:ident $field:ident $type:ty, group) => {
        <$type as $crate::Input>::take_own($given)?
    };
    ($given:ident $field:ident $type:ty, $form:ident) => {
        <$type as $crate::Field>::take(stringify!($field), $given.take(stringify!($field)))?
    };
}

/// Where a field of [`input!`](crate::input) stands.
#[doc(hidden)]
#[macro_export]
macro_rules! arg_form {
    (arg $($more:tt)*) => { $crate::Arg { form: $crate::ArgForm::Positional, ..$crate::arg_rules!($($more)*) } };
    (flag $($more:tt)*) => { $crate::Arg { form: $crate::ArgForm::Flag, ..$crate::arg_rules!($($more)*) } };
    (option $value:literal $short:literal $($more:tt)*) => {
        $crate::Arg {
            form: $crate::ArgForm::Option { value: $value, short: Some($short) },
            ..$crate::arg_rules!($($more)*)
        }
    };
    (option $value:literal $($more:tt)*) => {
        $crate::Arg { form: $crate::ArgForm::Option { value: $value, short: None }, ..$crate::arg_rules!($($more)*) }
    };
}

/// The rules of a field of [`input!`](crate::input).
#[doc(hidden)]
#[macro_export]
macro_rules! arg_rules {
    () => { $crate::Arg::PLAIN };
    (conflicts $list:tt $($more:tt)*) => { $crate::Arg { conflicts: &$list, ..$crate::arg_rules!($($more)*) } };
    (requires $list:tt $($more:tt)*) => { $crate::Arg { requires: &$list, ..$crate::arg_rules!($($more)*) } };
    (unless $list:tt $($more:tt)*) => { $crate::Arg { unless: &$list, ..$crate::arg_rules!($($more)*) } };
}

#[cfg(test)]
mod tests {
    use super::*;

    input! {
        struct Sample {
            /// Which session
            session: SessionName = arg,
            /// Which entries
            entry: Vec<EntryRange> = arg (unless ["all"]),
            /// How many
            count: Option<u64> = option ("N" 'n'),
            /// All of them
            all: bool = flag (conflicts ["count"]),
            /// Without a question
            at_once: bool = flag,
        }
    }

    input! {
        struct Grouped {
            /// How loud
            loud: bool = flag,
            /// Of the other input
            sample: Sample = group,
        }
    }

    fn given(values: &[(&'static str, ArgValue)]) -> Given {
        let mut given = Given::default();
        values.iter().for_each(|(name, value)| given.put(name, value.clone()));
        given
    }

    #[test]
    fn what_was_given_becomes_the_input_or_says_why_not() {
        let session = ("session", ArgValue::Text("latest".to_owned()));
        let many = ("entry", ArgValue::Many(vec!["a".to_owned(), "b..c".to_owned()]));
        let sample = Sample::take(given(&[session.clone(), many, ("count", ArgValue::Number(3))])).unwrap();
        assert_eq!(
            (sample.session.0.as_str(), sample.entry.len(), sample.count, sample.all, sample.at_once),
            ("latest", 2, Some(3), false, false)
        );
        let refused = |values: &[_]| Sample::take(given(values)).unwrap_err();
        let all = ("all", ArgValue::Flag);
        assert_eq!(refused(&[]), Misuse::Missing("session"));
        assert_eq!(refused(std::slice::from_ref(&session)), Misuse::Missing("entry"));
        assert_eq!(
            refused(&[session.clone(), all.clone(), ("count", ArgValue::Number(1))]),
            Misuse::Conflict("all", "count")
        );
        let wrong = refused(&[session.clone(), all, ("entry", ArgValue::Flag)]);
        assert_eq!(wrong.to_string(), "the argument \"entry\" must be a text");
    }

    #[test]
    fn front_ends_know_the_arguments() {
        let known: Vec<_> = Sample::ARGS.iter().map(|arg| (arg.name, arg.kind, arg.is_needed, arg.is_many)).collect();
        assert_eq!(known[0], ("session", ArgKind::Session, true, false));
        assert_eq!(known[1], ("entry", ArgKind::EntryRange, false, true));
        assert_eq!(Sample::ARGS[2].form, ArgForm::Option { value: "N", short: Some('n') });
        assert_eq!(Sample::ARGS[3].says, [" All of them"]);
        assert_eq!((Sample::ARGS[4].hyphened, Sample::ARGS[4].capitals), ("at-once", "AT_ONCE"));
    }

    #[test]
    fn a_group_has_its_arguments_and_rules_in_every_input() {
        let names: Vec<_> = Grouped::ARGS.iter().map(|arg| arg.name).collect();
        assert_eq!(names, ["loud", "session", "entry", "count", "all", "at_once"]);
        let session = ("session", ArgValue::Text("latest".to_owned()));
        let all = ("all", ArgValue::Flag);
        let grouped = Grouped::take(given(&[("loud", ArgValue::Flag), session.clone(), all.clone()])).unwrap();
        assert_eq!((grouped.loud, grouped.sample.session.0.as_str(), grouped.sample.all), (true, "latest", true));
        let refused = Grouped::take(given(&[session, all, ("count", ArgValue::Number(1))])).unwrap_err();
        assert_eq!(refused, Misuse::Conflict("all", "count"));
    }
}
