//! The JSON Schema of the lines of RPC, from the types that read and write them.

use offshoot_protocol::{BashRun, CompactionResult, Event};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::records::{
    CancelledData, ChildrenData, CommandsData, DispositionData, ForkMessagesData, ForkedData, LastTextData, LevelData,
    LevelsData, ModelData, ModelInUseData, ModelsData, NavigatedData, PathData, QueueData, StateData, StatsData,
};
use crate::request::{RpcCommand, UiResponse};
use crate::row_members;
use crate::shapes::{
    BranchesData, ComparisonData, EntriesData, ForecastData, MessagesData, RpcResponse, SessionsData, TreeData,
    any_value,
};
use crate::ui_request::UiRequest;

/// A command, with the id that its response has.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "the id is read before the command")]
struct RpcRequest {
    /// Any JSON value.
    #[serde(default)]
    #[schemars(schema_with = "any_value")]
    id: Option<Value>,
    #[serde(flatten)]
    command: RpcCommand,
}

/// An answer to `extension_ui_request`. It has no response.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "the type is read before the rest")]
struct UiAnswer {
    #[schemars(extend("const" = "extension_ui_response"))]
    r#type: String,
    #[serde(flatten)]
    response: UiResponse,
}

/// The data of each command's response. Commands that are missing here answer without data.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "names the data of each command")]
struct RpcResponses<'a> {
    prompt: DispositionData,
    steer: DispositionData,
    follow_up: DispositionData,
    clear_queue: QueueData,
    new_session: CancelledData,
    get_state: StateData<'a>,
    get_messages: MessagesData,
    set_model: ModelData<'a>,
    cycle_model: Option<ModelInUseData<'a>>,
    get_available_models: ModelsData<'a>,
    cycle_thinking_level: Option<LevelData>,
    get_available_thinking_levels: LevelsData,
    get_children: ChildrenData,
    compact: CompactionResult,
    bash: BashRun,
    get_session_stats: StatsData,
    export_html: PathData,
    switch_session: CancelledData,
    fork: ForkedData,
    clone: CancelledData,
    get_fork_messages: ForkMessagesData,
    get_entries: EntriesData,
    get_tree: TreeData,
    get_last_assistant_text: LastTextData,
    get_commands: CommandsData,
    list_sessions: SessionsData,
    get_branches: BranchesData,
    navigate_tree: NavigatedData,
    pick: NavigatedData,
    merge: NavigatedData,
    undo: NavigatedData,
    uncompact: NavigatedData,
    compare: ComparisonData,
    forecast: ForecastData,
    get_schema: Map<String, Value>,
}

/// What a client sends is `RpcRequest` or `UiAnswer`; what it reads is `RpcResponse`, `Event` or `UiRequest`.
pub(crate) fn schema() -> Value {
    let mut sent = SchemaSettings::draft2020_12().for_deserialize().into_generator();
    let mut read = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let roots = [
        sent.subschema_for::<RpcRequest>(),
        sent.subschema_for::<UiAnswer>(),
        read.subschema_for::<RpcResponse>(),
        read.subschema_for::<Event>(),
        read.subschema_for::<UiRequest>(),
    ];
    read.subschema_for::<RpcResponses<'_>>();
    let mut definitions = sent.take_definitions(true);
    definitions.extend(read.take_definitions(true));
    add_operations(&mut definitions, &any_value(&mut read).to_value());
    definitions.sort_keys();
    definitions.values_mut().for_each(simplify);
    if let Some(events) = definitions.get_mut("Event").and_then(|event| event["oneOf"].as_array_mut()) {
        // The queue adds it.
        let printed = events.iter_mut().find(|event| event["properties"]["type"]["const"] == "bash_execution_update");
        printed.into_iter().for_each(|event| event["properties"]["id"] = any_value(&mut read).to_value());
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "RpcLine",
        "description": "A line of `offshoot --mode rpc`, in either direction.",
        "anyOf": roots,
        "$defs": definitions,
    })
}

/// Adds the operations of the table that have no command of their own. Their data are what the shell's command prints.
fn add_operations(definitions: &mut Map<String, Value>, data: &Value) {
    for (name, row) in row_members::rows() {
        let Some(commands) = definitions.get_mut("RpcRequest").and_then(|sent| sent["oneOf"].as_array_mut()) else {
            return;
        };
        if commands.iter().any(|command| command["properties"]["type"]["const"] == *name) {
            continue;
        }
        commands.push(row_members::schema(&name, row));
        let mut data = data.clone();
        data["description"] = Value::from(format!("As the command `{}` prints it with --json.", row.about.name));
        if let Some(all) = definitions.get_mut("RpcResponses").and_then(|read| read["properties"].as_object_mut()) {
            all.insert(name, data);
        }
    }
}

/// A member that may be missing is never `null` too, and a reference has no siblings: generators make better types of that.
fn simplify(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if members.contains_key("$ref") {
                members.retain(|name, _| name == "$ref");
            }
            // Names of Rust's numbers.
            members.remove("format");
            let required = members.get("required").cloned().unwrap_or_default();
            let is_required = |name: &str| required.as_array().is_some_and(|names| names.iter().any(|it| it == name));
            if let Some(Value::Object(properties)) = members.get_mut("properties") {
                properties
                    .iter_mut()
                    .filter(|(name, _)| !is_required(name))
                    .for_each(|(_, schema)| without_null(schema));
            }
            members.values_mut().for_each(simplify);
        }
        Value::Array(items) => items.iter_mut().for_each(simplify),
        _ => {}
    }
}

fn without_null(schema: &mut Value) {
    let Value::Object(members) = schema else { return };
    if let Some(Value::Array(types)) = members.get("type")
        && let [only, null] = types.as_slice()
        && null == "null"
    {
        members.insert("type".to_owned(), only.clone());
    }
    if let Some(Value::Array(schemas)) = members.get_mut("anyOf") {
        schemas.retain(|schema| schema.get("type").is_none_or(|name| name != "null"));
        if let [Value::Object(only)] = schemas.as_mut_slice() {
            let only = std::mem::take(only);
            members.remove("anyOf");
            members.extend(only);
        }
    }
}
