//! Messages, entries and tool calls as extensions draw them: rows at a width, if somebody has a renderer. And their keys.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::mpsc::unbounded_channel;

use crate::contract::{Failure, Host, ToolInfo};
use crate::dispatch::ExtensionSet;
use crate::registry::Extension;

/// The lists of an extension that have renderers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum Renderer {
    Message,
    Entry,
    /// Of a tool's calls.
    Tool,
}

fn keys(extension: &Extension) -> impl Iterator<Item = String> {
    extension.loaded.shortcuts.iter().filter_map(|shortcut| shortcut["key"].as_str().map(str::to_owned))
}

impl Renderer {
    fn is_of(self, extension: &Extension, name: &str) -> bool {
        let has = |names: &[Value]| names.iter().any(|known| known.as_str() == Some(name));
        match self {
            Self::Message => has(&extension.loaded.message_renderers),
            Self::Entry => has(&extension.loaded.entry_renderers),
            Self::Tool => {
                let mut tools = extension.loaded.tools.iter();
                let draws = |tool: &ToolInfo| tool.name == name && (tool.has_render_call || tool.has_render_result);
                extension.loaded.has_tool_renderer || tools.any(draws)
            }
        }
    }
}

/// Whose text it is that extensions change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum TextType {
    User,
    Answer,
    Thinking,
}

impl TextType {
    /// In the order of a conversation.
    pub const ALL: [Self; 3] = [Self::User, Self::Answer, Self::Thinking];

    /// pi's name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Answer => "assistant",
            Self::Thinking => "assistant-thinking",
        }
    }
}

impl ExtensionSet {
    /// The first extension with a renderer for this type of message or entry, or this tool.
    fn renderer(&self, renderer: Renderer, name: &str) -> Option<(Arc<dyn Host>, usize)> {
        let registry = self.shared.registry();
        let found = registry.extensions.iter().find(|extension| renderer.is_of(extension, name))?;
        Some((found.host.clone(), found.loaded.id))
    }

    /// The keys that are registered.
    #[must_use]
    pub fn shortcuts(&self) -> Vec<String> {
        self.shared.registry().shortcuts()
    }

    /// Runs the handler of a key, of the first extension that has registered it.
    pub async fn shortcut(&self, key: &str) {
        let found = {
            let registry = self.shared.registry();
            let found = registry.extensions.iter().find(|extension| keys(extension).any(|known| known == key));
            found.map(|extension| (extension.host.clone(), extension.loaded.id, extension.path()))
        };
        let Some((host, ext, path)) = found else { return };
        let what = json!({"kind": "shortcut", "ext": ext, "key": key});
        if let Err(failure) = host.invoke(what, unbounded_channel().0).await {
            self.shared.report(&path, &format!("shortcut:{key}"), &failure);
        }
    }

    /// Whether somebody draws it.
    #[must_use]
    pub fn draws(&self, renderer: Renderer, name: &str) -> bool {
        self.renderer(renderer, name).is_some()
    }

    /// Whether an extension changes texts of this type before they are shown.
    #[must_use]
    pub fn changes_text(&self, of: TextType) -> bool {
        let changes = |extension: &crate::registry::Extension| {
            extension.loaded.markdown_types.iter().any(|known| known == of.as_str())
        };
        self.shared.registry().extensions.iter().any(changes)
    }

    /// A text as extensions want it shown at a width.
    ///
    /// # Errors
    /// The host has ended.
    pub async fn shown_text(&self, of: TextType, text: &str, width: usize) -> Result<String, Failure> {
        let what = json!({"kind": "markdown", "messageType": of.as_str(), "text": text, "width": width});
        let shown = self.on_screen(what).await?;
        Ok(shown.as_str().unwrap_or(text).to_owned())
    }

    /// What the renderer of a type or a tool makes of these members, in the host's shape.
    ///
    /// # Errors
    /// Nobody draws it, the extension failed, or the host has ended.
    pub async fn draw(&self, renderer: Renderer, name: &str, mut members: Value) -> Result<Value, Failure> {
        let (host, ext) = self.renderer(renderer, name).ok_or_else(|| Failure::new("it has no renderer"))?;
        let (kind, named) = match renderer {
            Renderer::Message => ("messageRenderer", "customType"),
            Renderer::Entry => ("entryRenderer", "customType"),
            Renderer::Tool => ("toolRender", "name"),
        };
        if let Some(object) = members.as_object_mut() {
            object.extend([
                ("kind".to_owned(), json!(kind)),
                ("ext".to_owned(), json!(ext)),
                (named.to_owned(), json!(name)),
            ]);
        }
        host.invoke(members, unbounded_channel().0).await
    }
}
