//! Which family a model of Bedrock belongs to, by its id and its name: the id of an inference profile may say nothing.

use offshoot_protocol::model::Model;

/// Families that think in different ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    Claude,
    GptOss,
    Gpt,
    Other,
}

impl Family {
    pub(super) fn of(model: &Model) -> Self {
        let (id, name) = (model.id.to_lowercase(), model.name.to_lowercase());
        match () {
            () if id.contains("anthropic.claude") || id.contains("anthropic/claude") || name.contains("claude") => {
                Self::Claude
            }
            () if is_any(model, &["gpt-oss"]) => Self::GptOss,
            () if is_any(model, &["gpt-"]) => Self::Gpt,
            () => Self::Other,
        }
    }
}

/// Whether the id or the name contains one of these words. Blanks, `_`, `.` and `:` count as `-`.
fn is_any(model: &Model, words: &[&str]) -> bool {
    let joined = |text: &str| {
        let mut out = String::with_capacity(text.len());
        for c in text.chars().map(|c| if c.is_whitespace() || matches!(c, '_' | '.' | ':') { '-' } else { c }) {
            if c != '-' || !out.ends_with('-') {
                out.push(c);
            }
        }
        out
    };
    let texts = [model.id.to_lowercase(), model.name.to_lowercase()];
    texts.iter().any(|text| words.iter().any(|word| text.contains(word) || joined(text).contains(word)))
}

const FIFTH: [&str; 4] = ["opus-5", "sonnet-5", "haiku-5", "fable-5"];
const LATE_FOURTH: [&str; 2] = ["opus-4-7", "opus-4-8"];

/// Claude: whether the model decides how much to think.
pub(super) fn is_adaptive(model: &Model) -> bool {
    is_any(model, &FIFTH) || is_any(model, &LATE_FOURTH) || is_any(model, &["opus-4-6", "sonnet-4-6"])
}

/// Claude: whether it has the effort `xhigh`.
pub(super) fn has_xhigh(model: &Model) -> bool {
    is_any(model, &FIFTH) || is_any(model, &LATE_FOURTH)
}

/// Claude: whether it can be told to drop thoughts that no longer fit.
pub(super) fn has_binding(model: &Model) -> bool {
    has_xhigh(model)
}

/// Whether the service caches up to a mark. Amazon's own models cache without marks, and refuse them.
pub(super) fn has_cache(model: &Model) -> bool {
    let marked = ["-4-", "claude-3-7-sonnet", "claude-3-5-haiku"];
    is_any(model, &["claude"]) && (is_any(model, &FIFTH) || is_any(model, &marked))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_ids_do_not() {
        let model = |id: &str, name: &str| Model { id: id.to_owned(), name: name.to_owned(), ..Model::default() };
        let profile = model("arn:aws:bedrock:us-east-1:1:application-inference-profile/x1", "Claude Opus 4.7");
        assert!(Family::of(&profile) == Family::Claude && has_binding(&profile) && has_cache(&profile));
        let old = model("anthropic.claude-3-5-sonnet-v1:0", "Claude");
        assert!(Family::of(&old) == Family::Claude && !is_adaptive(&old) && !has_cache(&old));
        assert_eq!(Family::of(&model("openai.gpt-oss-120b-1:0", "")), Family::GptOss);
        assert_eq!(Family::of(&model("openai.gpt-6.1", "")), Family::Gpt);
        assert_eq!(Family::of(&model("amazon.nova-pro-v1:0", "Nova Pro")), Family::Other);
    }
}
