//! What the loaded extensions have registered, in the order in which it counts.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use crate::contract::{CommandInfo, ExtensionSource, Failure, Handler, HandlerId, Host, LoadedExtension, ToolInfo};

/// An extension and what it registered.
#[derive(Clone)]
pub(crate) struct Extension {
    pub(crate) host: Arc<dyn Host>,
    pub(crate) source: ExtensionSource,
    pub(crate) loaded: LoadedExtension,
}

impl Extension {
    pub(crate) fn path(&self) -> String {
        self.source.path.display().to_string()
    }
}

/// A handler of an event.
#[derive(Clone)]
pub(crate) struct Listener {
    pub(crate) host: Arc<dyn Host>,
    pub(crate) id: HandlerId,
    pub(crate) path: String,
}

/// What an extension has taken away.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct GoneNames {
    pub(crate) providers: Vec<Value>,
    pub(crate) mcp_servers: Vec<Value>,
}

/// Everything that is registered.
#[derive(Clone, Default)]
pub(crate) struct Registry {
    pub(crate) extensions: Vec<Extension>,
    /// Registered before the host has said that it is ready.
    pub(crate) early: Vec<LoadedExtension>,
    /// Why a host does not run, if its extensions were lost.
    pub(crate) lost: Option<Failure>,
}

impl Registry {
    /// In load order, then in the order of registration.
    pub(crate) fn listeners(&self, event: &str) -> Vec<Listener> {
        let of = |extension: &Extension| {
            let handlers: Vec<&Handler> =
                extension.loaded.handlers.iter().filter(|handler| handler.event == event).collect();
            let listener =
                |handler: &&Handler| Listener { host: extension.host.clone(), id: handler.id, path: extension.path() };
            handlers.iter().map(listener).collect::<Vec<_>>()
        };
        self.extensions.iter().flat_map(of).collect()
    }

    pub(crate) fn listens(&self, event: &str) -> bool {
        let is_it = |handler: &Handler| handler.event == event;
        self.extensions.iter().any(|extension| extension.loaded.handlers.iter().any(is_it))
    }

    /// Those that did not load and may be guards, by their names.
    pub(crate) fn missing_guards(&self) -> Vec<String> {
        let name = |extension: &Extension| {
            let path = &extension.source.path;
            let folder = path.parent().filter(|_| path.file_stem().is_some_and(|stem| stem == "index"));
            let name = folder.unwrap_or(path).file_name().unwrap_or(path.as_os_str());
            name.to_string_lossy().into_owned()
        };
        self.extensions.iter().filter(|extension| extension.loaded.may_guard).map(name).collect()
    }

    /// The first of a name counts.
    pub(crate) fn command(&self, name: &str) -> Option<(&Extension, &CommandInfo)> {
        self.commands().find(|(_, command)| command.name == name)
    }

    pub(crate) fn commands(&self) -> impl Iterator<Item = (&Extension, &CommandInfo)> {
        self.extensions
            .iter()
            .flat_map(|extension| extension.loaded.commands.iter().map(move |command| (extension, command)))
    }

    /// The last of a name counts.
    pub(crate) fn provider(&self, name: &str) -> Option<(&Extension, &Value)> {
        let mut all = self
            .extensions
            .iter()
            .flat_map(|extension| extension.loaded.providers.iter().map(move |provider| (extension, provider)));
        all.rfind(|(_, provider)| provider["name"] == name)
    }

    /// The first of a name counts.
    pub(crate) fn tools(&self) -> Vec<(&Extension, &ToolInfo)> {
        let mut tools: Vec<(&Extension, &ToolInfo)> = Vec::new();
        for extension in &self.extensions {
            for tool in &extension.loaded.tools {
                if !tools.iter().any(|(_, known)| known.name == tool.name) {
                    tools.push((extension, tool));
                }
            }
        }
        tools
    }

    /// The tools that are not used, each with the extension whose tool of this name is.
    pub(crate) fn hidden_tools(&self) -> Vec<(&Extension, &ToolInfo, &Extension)> {
        let used = self.tools();
        let all = self.extensions.iter().flat_map(|own| own.loaded.tools.iter().map(move |tool| (own, tool)));
        let with_used = all.filter_map(|(own, tool)| {
            let (by, _) = used.iter().copied().find(|(_, known)| known.name == tool.name)?;
            Some((own, tool, by))
        });
        with_used.filter(|(own, _, by)| !std::ptr::eq(*own, *by)).collect()
    }

    /// The keys of shortcuts.
    pub(crate) fn shortcuts(&self) -> Vec<String> {
        let all = self.extensions.iter().flat_map(|extension| &extension.loaded.shortcuts);
        all.filter_map(|shortcut| shortcut["key"].as_str().map(str::to_owned)).collect()
    }

    /// Adds to what one extension has registered. What has a known name replaces it.
    pub(crate) fn add(&mut self, added: LoadedExtension) {
        let Some(extension) = self.extensions.iter_mut().find(|extension| extension.loaded.id == added.id) else {
            return self.early.push(added);
        };
        let loaded = &mut extension.loaded;
        loaded.handlers.extend(added.handlers);
        loaded.commands.retain(|known| !added.commands.iter().any(|new| new.name == known.name));
        loaded.commands.extend(added.commands);
        loaded.tools.retain(|known| !added.tools.iter().any(|new| new.name == known.name));
        loaded.tools.extend(added.tools);
        loaded.shortcuts.extend(added.shortcuts);
        loaded.flags.extend(added.flags);
        loaded.message_renderers.extend(added.message_renderers);
        loaded.entry_renderers.extend(added.entry_renderers);
        loaded.has_tool_renderer |= added.has_tool_renderer;
        if !added.markdown_types.is_empty() {
            loaded.markdown_types = added.markdown_types;
        }
        loaded.providers.retain(|known| !added.providers.iter().any(|new| new["name"] == known["name"]));
        loaded.providers.extend(added.providers);
        for server in added.mcp_servers {
            match loaded.mcp_servers.iter_mut().find(|known| known["name"] == server["name"]) {
                Some(known) => *known = server,
                None => loaded.mcp_servers.push(server),
            }
        }
    }

    /// Removes handlers by their ids, and providers and servers by their names.
    pub(crate) fn remove(&mut self, extension: usize, handlers: &[HandlerId], names: &GoneNames) {
        let Some(found) = self.extensions.iter_mut().find(|known| known.loaded.id == extension) else { return };
        found.loaded.handlers.retain(|known| !handlers.contains(&known.id));
        found.loaded.providers.retain(|known| !names.providers.contains(&known["name"]));
        found.loaded.mcp_servers.retain(|known| !names.mcp_servers.contains(&known["name"]));
    }

    /// Replaces what one extension has registered.
    pub(crate) fn replace(&mut self, loaded: LoadedExtension) {
        if let Some(extension) = self.extensions.iter_mut().find(|extension| extension.loaded.id == loaded.id) {
            extension.loaded = loaded;
        }
    }
}
