//! What an operation gets, as a struct whose fields are its arguments. Knows no operation.

use crate::given::{Arg, DRY_RUN_FLAG, Given, JSON_FLAG, Misuse};

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
        let is_argument = |name: &&&str| ![JSON_FLAG, DRY_RUN_FLAG].contains(*name);
        if let Some(other) = arg.requires.iter().filter(is_argument).find(|name| !given.has(name)) {
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
/// A field is `name: Type = arg`, `= option ("VALUE")`, `= option ("VALUE" 'n')`, `= flag` or `= flag ('n')`; rules follow in
/// the parentheses: `conflicts [..]`, `requires [..]`, `unless [..]`, `needed` (of a list), `json` (with it a command line
/// prints JSON). `name: Type = group` has the arguments of another input.
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
            is_many: <$type as $crate::Field>::MANY,
            ..$crate::arg_form!($form $($attr)*).needed(<$type as $crate::Field>::NEEDED)
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
    (flag $short:literal $($more:tt)*) => {
        $crate::Arg { form: $crate::ArgForm::Flag { short: Some($short) }, ..$crate::arg_rules!($($more)*) }
    };
    (flag $($more:tt)*) => {
        $crate::Arg { form: $crate::ArgForm::Flag { short: None }, ..$crate::arg_rules!($($more)*) }
    };
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
    (needed $($more:tt)*) => { $crate::Arg { is_needed: true, ..$crate::arg_rules!($($more)*) } };
    (json $($more:tt)*) => { $crate::Arg { prints_json: true, ..$crate::arg_rules!($($more)*) } };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::given::{ArgForm, ArgKind, ArgValue, EntryRange, SessionName};

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
