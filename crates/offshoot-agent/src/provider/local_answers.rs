//! What model servers of a person's own say of their models. The answers are foreign: each member may be missing or of any kind, and
//! names with characters that a screen cannot show are refused. Asks nobody.

use offshoot_session::text::one_line;
use serde_json::Value;

use super::local_server::{LocalModel, LocalThinking};

/// More models of one server are not listed.
pub(crate) const MOST_MODELS: usize = 500;
/// A longer name is not one.
const LONGEST_ID: usize = 256;
/// A larger window is a mistake.
const LARGEST_WINDOW: u64 = 1 << 32;

/// Models of an answer, and what was left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ListedLocally {
    pub(crate) models: Vec<LocalModel>,
    /// Models whose names cannot be shown.
    pub(crate) unnamed: usize,
    /// Models beyond the limit.
    pub(crate) beyond: usize,
}

impl ListedLocally {
    fn of<'a>(rows: impl Iterator<Item = &'a Value>, read: impl Fn(&'a Value) -> Option<LocalModel>) -> Self {
        let mut listed = Self::default();
        for row in rows {
            let Some(model) = read(row) else { continue };
            let is_known = || listed.models.iter().any(|known| known.id == model.id);
            if model.id.is_empty() || one_line(&model.id, LONGEST_ID) != model.id {
                listed.unnamed += 1;
            } else if listed.models.len() >= MOST_MODELS {
                listed.beyond += 1;
            } else if !is_known() {
                listed.models.push(model);
            }
        }
        listed
    }
}

fn rows<'a>(answer: &'a Value, member: &str) -> Option<impl Iterator<Item = &'a Value>> {
    answer.get(member)?.as_array().map(|rows| rows.iter())
}

fn text(row: &Value, member: &str) -> String {
    row.get(member).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn window(value: Option<&Value>) -> Option<u64> {
    value?.as_u64().filter(|tokens| *tokens > 0 && *tokens < LARGEST_WINDOW)
}

fn has(row: &Value, member: &str, word: &str) -> bool {
    row.get(member).and_then(Value::as_array).is_some_and(|words| words.iter().any(|known| known == word))
}

/// Ollama's `/api/tags`; `None` if it is something else.
pub(crate) fn ollama_tags(answer: &Value) -> Option<ListedLocally> {
    let model = |row| Some(LocalModel { id: text(row, "name"), ..LocalModel::default() });
    Some(ListedLocally::of(rows(answer, "models")?, model))
}

/// Ollama's `/api/show`, about a model of its list; `None` for a model that does not write text. `served` is the window that the
/// server is started with, if that is known.
pub(crate) fn ollama_show(id: &str, answer: &Value, served: Option<u64>) -> Option<LocalModel> {
    let can = |what: &str| has(answer, "capabilities", what);
    // Old servers do not name capabilities.
    if answer.get("capabilities").is_some() && !can("completion") {
        return None;
    }
    let facts = answer.get("model_info").and_then(Value::as_object);
    let of_model = facts.and_then(|facts| {
        window(facts.iter().find(|(name, _)| name.ends_with(".context_length")).map(|(_, value)| value))
    });
    // The model's own file may set it; else the server's variable does.
    let parameters = text(answer, "parameters");
    let set = parameters.lines().find_map(|line| line.trim().strip_prefix("num_ctx")?.trim().parse().ok());
    let set = set.or(served).filter(|tokens| *tokens > 0);
    let context_window = match (set, of_model) {
        (Some(set), Some(most)) => Some(set.min(most)),
        (set, most) => set.or(most),
    };
    let refuses_tools = answer.get("capabilities").is_some() && !can("tools");
    let thinking = if can("thinking") { LocalThinking::Effort } else { LocalThinking::Unknown };
    Some(LocalModel { id: id.to_owned(), context_window, thinking, images: can("vision"), refuses_tools })
}

/// `/v1/models` of servers like OpenAI's, with the members in which each tells the window; `None` if it is something else.
pub(crate) fn openai_models(answer: &Value) -> Option<ListedLocally> {
    let model = |row: &Value| {
        let meta = row.get("meta");
        let of_meta = |member| window(meta.and_then(|meta| meta.get(member)));
        let context_window = window(row.get("max_model_len"))
            .or_else(|| of_meta("n_ctx"))
            .or_else(|| of_meta("n_ctx_train"))
            .or_else(|| window(row.get("context_length")));
        let images = row.get("architecture").is_some_and(|kinds| has(kinds, "input_modalities", "image"));
        Some(LocalModel { id: text(row, "id"), context_window, images, ..LocalModel::default() })
    };
    Some(ListedLocally::of(rows(answer, "data")?, model))
}

/// LM Studio's `/api/v0/models`, without models that do not write text; `None` if it is something else.
pub(crate) fn lm_studio_models(answer: &Value) -> Option<ListedLocally> {
    let model = |row: &Value| {
        let kind = text(row, "type");
        if !matches!(kind.as_str(), "llm" | "vlm" | "") {
            return None;
        }
        let context_window = window(row.get("loaded_context_length")).or_else(|| window(row.get("max_context_length")));
        Some(LocalModel { id: text(row, "id"), context_window, images: kind == "vlm", ..LocalModel::default() })
    };
    Some(ListedLocally::of(rows(answer, "data")?, model))
}

/// llama.cpp's `/props`, about its only model.
pub(crate) fn llama_props(model: &mut LocalModel, answer: &Value) {
    let served = answer.get("default_generation_settings").and_then(|settings| settings.get("n_ctx"));
    model.context_window = window(served).or(model.context_window);
    if text(answer, "chat_template").contains("enable_thinking") {
        model.thinking = LocalThinking::Template;
    }
    model.images |= answer.pointer("/modalities/vision").and_then(Value::as_bool) == Some(true);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(models: &[LocalModel]) -> Vec<String> {
        let row = |model: &LocalModel| {
            let window = model.context_window.map_or("?".to_owned(), |tokens| tokens.to_string());
            let thinking = match model.thinking {
                LocalThinking::Unknown => "",
                LocalThinking::Effort => " effort",
                LocalThinking::Template => " template",
            };
            format!("{} {window}{thinking}{}", model.id, if model.images { " images" } else { "" })
                + if model.refuses_tools { " no tools" } else { "" }
        };
        models.iter().map(row).collect()
    }

    #[test]
    fn each_server_tells_the_window_in_its_own_way() {
        let tags = ollama_tags(&json!({"models": [{"name": "qwen3:8b", "size": 1}, {"name": "llava"}]})).unwrap();
        assert_eq!(shown(&tags.models), ["qwen3:8b ?", "llava ?"]);
        let show = |answer: Value, served| ollama_show("m", &answer, served).map(|model| shown(&[model]).concat());
        let qwen = json!({"model_info": {"general.architecture": "qwen3", "qwen3.context_length": 40960},
            "capabilities": ["completion", "tools", "thinking"]});
        assert_eq!(show(qwen.clone(), None).as_deref(), Some("m 40960 effort"));
        assert_eq!(show(qwen, Some(8192)).as_deref(), Some("m 8192 effort"));
        let set = json!({"parameters": "stop  \"x\"\nnum_ctx                        16384",
            "model_info": {"llama.context_length": 131_072}, "capabilities": ["completion", "vision"]});
        assert_eq!(show(set, Some(4096)).as_deref(), Some("m 16384 images no tools"));
        assert_eq!(show(json!({"capabilities": ["embedding"]}), None), None, "it writes no text");
        assert_eq!(show(json!({}), None).as_deref(), Some("m ?"), "an old server");
        let vllm = json!({"data": [{"id": "Qwen/Qwen3-8B", "max_model_len": 32768}, {"id": "lora"}]});
        assert_eq!(shown(&openai_models(&vllm).unwrap().models), ["Qwen/Qwen3-8B 32768", "lora ?"]);
        let llama = json!({"data": [{"id": "gemma.gguf", "meta": {"n_ctx_train": 131_072}}]});
        let mut llama = openai_models(&llama).unwrap().models;
        assert_eq!(shown(&llama), ["gemma.gguf 131072"]);
        let props = json!({"default_generation_settings": {"n_ctx": 8192}, "modalities": {"vision": true},
            "chat_template": "{% if enable_thinking %}"});
        llama_props(&mut llama[0], &props);
        assert_eq!(shown(&llama), ["gemma.gguf 8192 template images"]);
        let studio = json!({"data": [
            {"id": "loaded", "type": "llm", "state": "loaded", "max_context_length": 131_072, "loaded_context_length": 4096},
            {"id": "seeing", "type": "vlm", "max_context_length": 32768}, {"id": "e", "type": "embeddings"}]});
        assert_eq!(shown(&lm_studio_models(&studio).unwrap().models), ["loaded 4096", "seeing 32768 images"]);
    }

    #[test]
    fn a_hostile_answer_is_bounded_and_never_a_name() {
        let odd = ["", "a\u{1b}[31mb", "line\nend", "\u{202e}x", &"x".repeat(300)];
        let odd: Vec<Value> =
            odd.iter().map(|name| json!({"name": name})).chain([json!(7), json!({"name": 7})]).collect();
        let listed = ollama_tags(&json!({"models": odd})).unwrap();
        assert_eq!((listed.models.len(), listed.unnamed), (0, 7), "{listed:?}");
        let many: Vec<Value> = (0..MOST_MODELS + 3).map(|at| json!({"id": format!("m{at}")})).collect();
        let listed = openai_models(&json!({"data": many})).unwrap();
        assert_eq!((listed.models.len(), listed.beyond), (MOST_MODELS, 3));
        let twice = openai_models(&json!({"data": [{"id": "a"}, {"id": "a"}]})).unwrap();
        assert_eq!(twice.models.len(), 1);
        for other in [json!(null), json!([]), json!({"models": {}}), json!({"data": 1})] {
            assert_eq!((ollama_tags(&other), openai_models(&other), lm_studio_models(&other)), (None, None, None));
        }
        let wrong = json!({"data": [{"id": "m", "max_model_len": -1, "meta": {"n_ctx": "x", "n_ctx_train": 0}}]});
        assert_eq!(shown(&openai_models(&wrong).unwrap().models), ["m ?"]);
    }
}
