//! The tools of extensions beside those of the setup: one takes the place of another with its name, and belongs to every branch
//! that stores no tools of its own.

use std::sync::Arc;

use super::Driver;
use crate::command::ToolList;
use crate::setup::Setup;
use crate::stored_prompt::ToolSets;
use crate::tool::{self, Tool};

pub(super) struct ToolSet {
    /// Of the setup, without extensions.
    sets: Option<ToolSets>,
    first: Vec<Arc<dyn Tool>>,
    available: Vec<Arc<dyn Tool>>,
    registered: Vec<Arc<dyn Tool>>,
}

impl ToolSet {
    pub(super) fn new(setup: &Setup) -> Self {
        let sets = setup.tool_sets.clone();
        let available = sets.as_ref().map_or_else(|| tool::all(&setup.shell), |sets| sets.available.clone());
        Self { sets, first: setup.tools.clone(), available, registered: Vec::new() }
    }

    /// After the setup was read again.
    pub(super) fn set_base(&mut self, setup: &Setup) {
        let registered = std::mem::take(&mut self.registered);
        *self = Self { registered, ..Self::new(setup) };
    }

    fn with_registered(&self, tools: &[Arc<dyn Tool>]) -> Vec<Arc<dyn Tool>> {
        let is_free = |tool: &&Arc<dyn Tool>| !tools.iter().any(|known| known.name() == tool.name());
        let own =
            |tool: &Arc<dyn Tool>| self.registered.iter().find(|own| own.name() == tool.name()).unwrap_or(tool).clone();
        tools.iter().map(own).chain(self.registered.iter().filter(is_free).cloned()).collect()
    }

    /// A tool without extensions.
    pub(super) fn built_in(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.available.iter().find(|tool| tool.name() == name).cloned()
    }

    /// Every tool that can be turned on.
    pub(super) fn all(&self) -> Vec<Arc<dyn Tool>> {
        self.with_registered(&self.available)
    }
}

impl Driver {
    pub(super) fn register_tools(&mut self, tools: &ToolList) {
        self.tool_set.registered = tools.0.to_vec();
        self.use_tools();
    }

    /// From the next request on; the next prompt stores them if they are unusual.
    pub(super) fn activate_tools(&mut self, names: &[String]) {
        let all = self.tool_set.all();
        self.setup.tools = all.into_iter().filter(|tool| names.iter().any(|name| name == tool.name())).collect();
    }

    pub(super) fn use_tools(&mut self) {
        let set = &self.tool_set;
        let sets = set.sets.as_ref().map(|sets| ToolSets {
            available: set.with_registered(&sets.available),
            first: set.with_registered(&sets.first),
            usual: set.with_registered(&sets.usual),
        });
        self.setup.tools = match &sets {
            Some(sets) => sets.of(&self.writer.recorded().prompt).0,
            None => set.with_registered(&set.first),
        };
        self.setup.tool_sets = sets;
    }
}
