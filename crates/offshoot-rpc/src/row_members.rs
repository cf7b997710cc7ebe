//! The members of a client's command as what was given to an operation of the table.

use offshoot_session::json::{Json, JsonKind};
use offshoot_workspace::{Arg, ArgKind, ArgValue, FrontEnd, Given, JSON_FLAG, Misuse, OPERATIONS, Row};
use serde_json::{Map, Value, json};

/// The operation that a client names, in `snake_case`.
pub(crate) fn named(kind: &str) -> Option<&'static Row> {
    rows().find(|(name, _)| name == kind).map(|(_, row)| row)
}

/// The operations that clients can name, with their names.
pub(crate) fn rows() -> impl Iterator<Item = (String, &'static Row)> {
    OPERATIONS.iter().filter(|row| row.is_on(FrontEnd::Rpc)).map(|row| (row.about.name.replace('-', "_"), row))
}

/// The arguments that say something where the answer is JSON.
fn members(row: &Row) -> impl Iterator<Item = &'static Arg> {
    row.args_of_open().filter(|arg| arg.prints_json || !arg.conflicts.contains(&JSON_FLAG))
}

/// The schema of a command that is an operation of the table.
pub(crate) fn schema(name: &str, row: &Row) -> Value {
    let mut properties = Map::from_iter([("type".to_owned(), json!({"type": "string", "const": name}))]);
    let mut required = vec!["type".to_owned()];
    for arg in members(row) {
        let mut schema = value_schema(arg);
        let says: Vec<&str> = arg.says.iter().map(|line| line.trim()).collect();
        schema["description"] = Value::from(says.join(" "));
        required.extend(arg.is_needed.then(|| member(arg.name)));
        properties.insert(member(arg.name), schema);
    }
    json!({"type": "object", "properties": properties, "required": required, "description": row.about.title})
}

fn value_schema(arg: &Arg) -> Value {
    let one = match arg.kind {
        ArgKind::Flag => json!({"type": "boolean", "default": false}),
        ArgKind::Number => json!({"type": "integer", "minimum": 0}),
        ArgKind::Word(words) => json!({"type": "string", "enum": words}),
        ArgKind::Session
        | ArgKind::Entry
        | ArgKind::EntryRange
        | ArgKind::Text
        | ArgKind::FilledText
        | ArgKind::Size
        | ArgKind::File
        | ArgKind::Folder => json!({"type": "string"}),
    };
    if arg.is_many { json!({"type": "array", "items": one}) } else { one }
}

/// What a client gave in the members of its command. Members that the operation does not have are ignored, as pi ignores them.
pub(crate) fn given(row: &'static Row, line: Json<'_>) -> Result<Given, Misuse> {
    let mut given = Given::default();
    for arg in members(row) {
        let Some(json) = line.get(&member(arg.name)).filter(|json| !json.is_null()) else { continue };
        if let Some(value) = value(arg, json)? {
            given.put(arg.name, value);
        }
    }
    Ok(given)
}

/// The camelCase of an argument.
fn member(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |all, word| {
        let (head, tail) = word.split_at_checked(1).unwrap_or((word, ""));
        all + &head.to_uppercase() + tail
    })
}

fn value(arg: &Arg, json: Json<'_>) -> Result<Option<ArgValue>, Misuse> {
    let wrong = |expected: &str| Misuse::Wrong { name: arg.name, expected: expected.to_owned() };
    let text = |json: Json<'_>| json.as_str().map(std::borrow::Cow::into_owned);
    Ok(match (arg.kind, arg.is_many) {
        (ArgKind::Flag, _) => json.as_bool().ok_or_else(|| wrong("true or false"))?.then_some(ArgValue::Flag),
        (ArgKind::Number, _) => Some(ArgValue::Number(json.text().parse().map_err(|_| wrong("a whole number"))?)),
        (_, true) if json.kind() == JsonKind::Array => {
            let all = json.items().map(|item| text(item).ok_or_else(|| wrong("a list of texts")));
            Some(ArgValue::Many(all.collect::<Result<_, _>>()?))
        }
        _ => Some(ArgValue::Text(text(json).ok_or_else(|| wrong("a text"))?)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_read_by_the_arguments_of_the_row() {
        let row = named("label").unwrap();
        let read = |line: &str| given(row, Json::parse(line).unwrap());
        let label = read(r#"{"entry":"1a2b3c4d","text":"x","clear":false,"other":1}"#).unwrap();
        assert_eq!((label.text("entry"), label.text("text"), label.has("clear")), (Some("1a2b3c4d"), Some("x"), false));
        assert_eq!(read(r#"{"entry":7}"#).unwrap_err().to_string(), "the argument \"entry\" must be a text");
        assert_eq!(member("custom_instructions"), "customInstructions");
        assert!(named("set_label").is_none());
    }
}
