//! The arguments of a method, by name and type, never re-serialised.
//!
//! A method declares its arguments in this notation: `customType data?` is a required and an optional argument, `*`
//! allows any others.

use std::borrow::Cow;

use super::MethodError;
use crate::json::{Json, JsonKind};

/// A view of the arguments, which are an object.
#[derive(Debug, Clone, Copy)]
pub struct Params<'a> {
    object: Option<Json<'a>>,
}

type ArgumentResult<T> = Result<T, MethodError>;

impl<'a> Params<'a> {
    /// The members of an object; `None` has none.
    #[must_use]
    pub fn new(object: Option<Json<'a>>) -> Self {
        Self { object }
    }

    /// Refuses unknown arguments and the absence of required ones. The notation may be in parts.
    ///
    /// # Errors
    /// [`MethodError::Argument`].
    pub fn check(&self, notation: &[&str]) -> ArgumentResult<()> {
        let names = || notation.iter().flat_map(|part| part.split(' ')).filter(|name| !name.is_empty());
        for needed in names().filter(|name| *name != "*" && !name.ends_with('?')) {
            self.raw(needed)?;
        }
        let is_known = |given: &str| names().any(|name| name == "*" || name.trim_end_matches('?') == given);
        match self.members().find(|(given, _)| !is_known(given)) {
            Some((given, _)) => Err(MethodError::argument(format!("there is no argument {given:?}"))),
            None => Ok(()),
        }
    }

    /// All of them, in order.
    pub fn members(&self) -> impl Iterator<Item = (Cow<'a, str>, Json<'a>)> + use<'a> {
        self.object.into_iter().flat_map(Json::members)
    }

    /// An argument of any kind, `null` included; `None` only if it is absent.
    pub fn opt(&self, name: &str) -> Option<Json<'a>> {
        self.object?.get(name)
    }

    /// A required argument of any kind, `null` included.
    ///
    /// # Errors
    /// [`MethodError::Argument`].
    pub fn raw(&self, name: &str) -> ArgumentResult<Json<'a>> {
        self.opt(name).ok_or_else(|| MethodError::argument(format!("the argument {name:?} is missing")))
    }

    /// A required string.
    ///
    /// # Errors
    /// [`MethodError::Argument`].
    pub fn str(&self, name: &str) -> ArgumentResult<Cow<'a, str>> {
        self.raw(name)?.as_str().ok_or_else(|| wrong(name, "a string"))
    }

    /// An optional string; `null` counts as absent.
    ///
    /// # Errors
    /// [`MethodError::Argument`].
    pub fn opt_str(&self, name: &str) -> ArgumentResult<Option<Cow<'a, str>>> {
        match self.given(name) {
            Some(value) => value.as_str().map(Some).ok_or_else(|| wrong(name, "a string")),
            None => Ok(None),
        }
    }

    /// A required boolean.
    ///
    /// # Errors
    /// [`MethodError::Argument`].
    pub fn bool(&self, name: &str) -> ArgumentResult<bool> {
        self.raw(name)?.as_bool().ok_or_else(|| wrong(name, "true or false"))
    }

    /// An optional boolean; `null` counts as absent.
    ///
    /// # Errors
    /// [`MethodError::Argument`].
    pub fn opt_bool(&self, name: &str) -> ArgumentResult<Option<bool>> {
        match self.given(name) {
            Some(value) => value.as_bool().map(Some).ok_or_else(|| wrong(name, "true or false")),
            None => Ok(None),
        }
    }

    /// A required whole number, 0 or more.
    ///
    /// # Errors
    /// [`MethodError::Argument`].
    pub fn count(&self, name: &str) -> ArgumentResult<u64> {
        let value = self.raw(name)?;
        if let Ok(whole) = value.text().parse() {
            return Ok(whole);
        }
        let number =
            value.as_f64().filter(|number| *number >= 0.0 && number.fract() == 0.0 && *number < u64::MAX as f64);
        number.map(|number| number as u64).ok_or_else(|| wrong(name, "a whole number from 0"))
    }

    /// A required array.
    ///
    /// # Errors
    /// [`MethodError::Argument`].
    pub fn array(&self, name: &str) -> ArgumentResult<Json<'a>> {
        let value = self.raw(name)?;
        if value.kind() == JsonKind::Array { Ok(value) } else { Err(wrong(name, "an array")) }
    }

    /// An optional argument; `null` counts as absent.
    pub fn given(&self, name: &str) -> Option<Json<'a>> {
        self.opt(name).filter(|value| !value.is_null())
    }
}

fn wrong(name: &str, expected: &str) -> MethodError {
    MethodError::argument(format!("the argument {name:?} must be {expected}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(text: &str) -> Params<'_> {
        Params::new(Some(Json::parse(text).unwrap()))
    }

    #[test]
    fn arguments_are_checked_against_the_notation() {
        for (given, notation, is_fine) in [
            ("{}", "", true),
            ("{}", "a?", true),
            ("{}", "a", false),
            (r#"{"a":null}"#, "a", true),
            (r#"{"a":1,"b":2}"#, "a", false),
            (r#"{"a":1,"b":2}"#, "a b?", true),
            (r#"{"a":1,"c":2}"#, "a *", true),
            (r#"{"a?":1}"#, "a?", false),
        ] {
            assert_eq!(params(given).check(&[notation]).is_ok(), is_fine, "{given} as {notation:?}");
        }
        assert!(Params::new(None).check(&["a?"]).is_ok());
    }

    #[test]
    fn whole_numbers_in_any_spelling() {
        for (text, expected) in
            [("7", Some(7)), ("1e3", Some(1000)), ("2.0", Some(2)), ("-1", None), ("1.5", None), ("1e400", None)]
        {
            assert_eq!(params(&format!(r#"{{"n":{text}}}"#)).count("n").ok(), expected, "{text}");
        }
    }
}
