//! Values of keys in `models.json` and `auth.json`: the key itself, `$NAME` in it, or `!command`, as in pi. Runs no
//! command.

use std::cell::RefCell;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unset(pub(super) String);

pub(super) fn command(value: &str) -> Option<&str> {
    value.strip_prefix('!')
}

/// Whether the value is the text itself, and neither a command nor a variable.
pub(super) fn is_literal(value: &str) -> bool {
    command(value).is_none() && !is_name(value) && resolve(value, &|_| None).as_deref() == Ok(value)
}

/// The value that means this key: the key itself is neither a command nor does it contain variables.
pub fn literal_key(key: &str) -> String {
    let escaped = key.replace('$', "$$");
    if command(key).is_some() { format!("${escaped}") } else { escaped }
}

pub(super) fn is_name(value: &str) -> bool {
    value.starts_with(|c: char| c.is_ascii_uppercase())
        && value.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// The variables that a value names.
pub(super) fn variables(value: &str) -> Vec<String> {
    if command(value).is_some() {
        return Vec::new();
    }
    let named = RefCell::new(Vec::new());
    let all = |name: &str| {
        named.borrow_mut().push(name.to_owned());
        Some(String::new())
    };
    // Every variable counts as set, so nothing can fail.
    resolve(value, &all).map_or_else(|_| Vec::new(), |_| named.take())
}

/// The first unset variable that a value needs.
pub(super) fn lacks(value: &str, env: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    match command(value) {
        Some(_) => None,
        None => resolve(value, env).err().map(|Unset(name)| name),
    }
}

/// Resolves a value: `$NAME` and `${NAME}` are variables, `$$` is `$` and `$!` is `!`. A value that is only a
/// variable's name means that variable, if it is set.
pub(super) fn resolve(value: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<String, Unset> {
    if let Some(found) = is_name(value).then(|| env(value)).flatten() {
        return Ok(found);
    }
    let mut out = String::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        rest = after;
        if let Some(same) = after.chars().next().filter(|c| matches!(c, '$' | '!')) {
            out.push(same);
            rest = after.get(1..).unwrap_or_default();
            continue;
        }
        let (name, behind) = match after.strip_prefix('{') {
            Some(inside) => inside.split_once('}').unwrap_or(("", after)),
            None => {
                after.split_at(after.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(after.len()))
            }
        };
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            out.push('$');
            continue;
        }
        out.push_str(&env(name).ok_or_else(|| Unset(name.to_owned()))?);
        rest = behind;
    }
    out.push_str(rest);
    Ok(out)
}

/// An address with its `{NAME}`s filled in; else the name of one that is not set.
pub(super) fn fill_address(url: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = url;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        match after.split_once('}').filter(|(name, _)| is_name(name)) {
            Some((name, behind)) => {
                out.push_str(env(name).ok_or_else(|| name.to_owned())?.trim());
                rest = behind;
            }
            None => {
                out.push('{');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn got(value: &str) -> Result<String, Unset> {
        resolve(value, &|name| (name == "KEY" || name == "A_1").then(|| format!("<{name}>")))
    }

    #[test]
    fn variables_are_filled_in_and_the_rest_stays() {
        for (value, expected) in [
            ("literal", "literal"),
            ("$KEY", "<KEY>"),
            ("a${KEY}b$A_1-", "a<KEY>b<A_1>-"),
            ("KEY", "<KEY>"),
            ("OTHER", "OTHER"),
            ("$$KEY$!", "$KEY!"),
            ("5$ and ${", "5$ and ${"),
            ("$1", "$1"),
        ] {
            assert_eq!(got(value).as_deref(), Ok(expected), "{value}");
        }
        for key in ["sk-1", "$KEY", "!printf x", "a$$b$", "${A_1}!", "!$KEY"] {
            let value = literal_key(key);
            assert_eq!((got(&value).as_deref(), command(&value)), (Ok(key), None), "{value}");
        }
        assert_eq!(got("x$NONE"), Err(Unset("NONE".to_owned())));
        assert_eq!(lacks("x${NONE}", &|_| None).as_deref(), Some("NONE"));
        assert_eq!(variables("a${KEY}b$A_1-"), ["KEY", "A_1"]);
        assert_eq!(variables("!echo $KEY"), Vec::<String>::new());
        assert_eq!(lacks("!exit 1", &|_| None), None);
    }

    #[test]
    fn an_address_asks_for_its_variables() {
        let env = |name: &str| (name == "ACCOUNT").then(|| " a1 ".to_owned());
        assert_eq!(fill_address("https://x/{ACCOUNT}/v1", &env).as_deref(), Ok("https://x/a1/v1"));
        assert_eq!(fill_address("https://x/{ACCOUNT}/{GATEWAY}", &env), Err("GATEWAY".to_owned()));
        assert_eq!(fill_address("http://x/{a}/{", &env).as_deref(), Ok("http://x/{a}/{"));
    }
}
