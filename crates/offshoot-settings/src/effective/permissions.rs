//! The approval mode and the rules of both files as they are written. Does not know what a rule means.

use offshoot_protocol::ApprovalMode;

use crate::layer::Layers;
use crate::setting::Scope;
use crate::value::Value;

/// A rule as a file writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenRule {
    /// Whose file has it.
    pub scope: Scope,
    pub text: String,
}

/// The mode, and the rules as they are written, the user's first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WrittenPermissions {
    pub mode: ApprovalMode,
    pub allow: Vec<WrittenRule>,
    pub ask: Vec<WrittenRule>,
    pub deny: Vec<WrittenRule>,
}

/// The setting of the rules that let calls run.
pub const ALLOW: &str = "permissions.allow";
/// The setting of the rules that ask.
pub const ASK: &str = "permissions.ask";
/// The setting of the rules that refuse.
pub const DENY: &str = "permissions.deny";

impl Layers {
    /// The rules of both files; a project can only make them stricter.
    #[must_use]
    pub fn permissions(&self) -> WrittenPermissions {
        let mode = self.text("approval").and_then(|name| ApprovalMode::parse(&name)).unwrap_or_default();
        WrittenPermissions { mode, allow: self.rules(ALLOW), ask: self.rules(ASK), deny: self.rules(DENY) }
    }

    fn rules(&self, key: &str) -> Vec<WrittenRule> {
        let mut rules = Vec::new();
        for (scope, layer) in [(Scope::Global, &self.global), (Scope::Project, &self.project)] {
            let Some(Value::Texts(texts)) = layer.get(key) else { continue };
            rules.extend(texts.iter().map(|text| WrittenRule { scope, text: text.clone() }));
        }
        rules
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::Layer;

    #[test]
    fn a_project_can_only_make_the_rules_stricter() {
        let global = r#"{"approval":"edits","permissions":{"allow":["bash(ls)"],"deny":["bash(rm:*)","bash($x)"]}}"#;
        let project = r#"{"approval":"auto","permissions":{"allow":["bash"],"ask":["edit"],"deny":["read"]}}"#;
        let (project, said) = Layer::read(project, Scope::Project).unwrap();
        let layers = Layers { global: Layer::read(global, Scope::Global).unwrap().0, project, ..Layers::default() };
        let permissions = layers.permissions();
        let texts = |rules: &[WrittenRule]| rules.iter().map(|rule| rule.text.as_str()).collect::<Vec<_>>().join(" ");
        assert_eq!(permissions.mode, ApprovalMode::Edits);
        assert_eq!(texts(&permissions.allow), "bash(ls)");
        assert_eq!(texts(&permissions.ask), "edit");
        assert_eq!(texts(&permissions.deny), "bash(rm:*) bash($x) read");
        let scopes: Vec<_> = permissions.deny.iter().map(|rule| rule.scope).collect();
        assert_eq!(scopes, [Scope::Global, Scope::Global, Scope::Project]);
        let said: Vec<_> = said.iter().map(|diagnostic| diagnostic.what.as_str()).collect();
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said[1].contains("permissions.allow works only in the user's settings"), "{said:?}");
    }
}
