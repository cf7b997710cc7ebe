//! The tools of all sources: which of a name is used, and which the model gets. Sources come and go while the agent runs; the
//! choice of tools outlives them. Tools of other sources than offshoot belong to every branch that stores no tools of its own.

use std::collections::BTreeMap;
use std::sync::Arc;

use offshoot_protocol::{Event, NoticeCode};
use tokio::sync::mpsc::{UnboundedSender, WeakUnboundedSender};

use super::{Driver, DriverInput};
use crate::request_queue::{Askable as _, ReplyTo, SetTools, ToolList};
use crate::setup::Setup;
use crate::stored_prompt::ToolSets;
use crate::tool::{self, FormAsker, Tool, ToolChoiceError, ToolSource, ToolTaker};

pub(super) struct ToolSet {
    /// Of the setup: offshoot's own tools alone.
    sets: Option<ToolSets>,
    first: Vec<Arc<dyn Tool>>,
    /// By rank, and of equal ranks as they were added.
    sources: Vec<(ToolSource, Vec<Arc<dyn Tool>>)>,
    /// Whether the names of the options and the settings have been held against all tools.
    is_checked: bool,
}

/// A tool that is not used, because another source has one of its name.
#[derive(PartialEq, Eq)]
struct HiddenTool {
    name: String,
    source: ToolSource,
    by: ToolSource,
}

impl ToolSet {
    pub(super) fn new(setup: &Setup) -> Self {
        let mut set = Self { sets: None, first: Vec::new(), sources: Vec::new(), is_checked: false };
        set.set_base(setup);
        set
    }

    /// After the setup was read again.
    fn set_base(&mut self, setup: &Setup) {
        self.sets = setup.tool_sets.clone();
        self.first = setup.tools.clone();
        let built_in = self.sets.as_ref().map_or_else(|| tool::all(&setup.shell), |sets| sets.available.clone());
        self.set(ToolSource::BuiltIn, built_in);
    }

    fn set(&mut self, source: ToolSource, tools: Vec<Arc<dyn Tool>>) {
        if tools.is_empty() {
            return self.remove(&source);
        }
        match self.sources.iter_mut().find(|(known, _)| *known == source) {
            Some((_, known)) => *known = tools,
            None => {
                let at = self.sources.partition_point(|(known, _)| known.rank() <= source.rank());
                self.sources.insert(at, (source, tools));
            }
        }
    }

    fn remove(&mut self, source: &ToolSource) {
        self.sources.retain(|(known, _)| known != source);
    }

    fn by_rank(&self) -> impl Iterator<Item = (&ToolSource, &Arc<dyn Tool>)> {
        self.sources.iter().flat_map(|(source, tools)| tools.iter().map(move |tool| (source, tool)))
    }

    /// Tools of offshoot, each replaced by the one of its name that is used, and the used ones of other sources.
    fn with_others(&self, own: &[Arc<dyn Tool>]) -> Vec<Arc<dyn Tool>> {
        let mut used: BTreeMap<&str, &Arc<dyn Tool>> = BTreeMap::new();
        let mut others = Vec::new();
        for (source, tool) in self.by_rank() {
            if used.contains_key(tool.name()) {
                continue;
            }
            used.insert(tool.name(), tool);
            if *source != ToolSource::BuiltIn && own.iter().all(|own| own.name() != tool.name()) {
                others.push(tool.clone());
            }
        }
        let own = own.iter().map(|own| (*used.get(own.name()).unwrap_or(&own)).clone());
        own.chain(others).collect()
    }

    /// Without built-in tools that an extension replaces: extensions do so on purpose.
    fn hidden(&self) -> Vec<HiddenTool> {
        let mut used: BTreeMap<&str, &ToolSource> = BTreeMap::new();
        let mut hidden = Vec::new();
        for (source, tool) in self.by_rank() {
            match used.get(tool.name()) {
                None => drop(used.insert(tool.name(), source)),
                Some(by) if *source != ToolSource::BuiltIn => {
                    let by = (*by).clone();
                    hidden.push(HiddenTool { name: tool.name().to_owned(), source: source.clone(), by });
                }
                Some(_) => {}
            }
        }
        hidden
    }

    /// A tool of offshoot, whatever has replaced it.
    pub(super) fn built_in(&self, name: &str) -> Option<Arc<dyn Tool>> {
        let own = self.sources.iter().find(|(source, _)| *source == ToolSource::BuiltIn);
        own?.1.iter().find(|tool| tool.name() == name).cloned()
    }

    /// Every tool that can be turned on.
    pub(super) fn all(&self) -> Vec<Arc<dyn Tool>> {
        let own = self.sources.iter().find(|(source, _)| *source == ToolSource::BuiltIn);
        self.with_others(own.map_or(&[], |(_, tools)| tools))
    }

    /// Every tool that can be turned on in this run.
    pub(super) fn usable(&self) -> Vec<Arc<dyn Tool>> {
        self.allowed(self.all())
    }

    fn allowed(&self, mut tools: Vec<Arc<dyn Tool>>) -> Vec<Arc<dyn Tool>> {
        if let Some(sets) = &self.sets {
            tools.retain(|tool| sets.filter.allows(tool.name()));
        }
        tools
    }

    fn sets(&self) -> Option<ToolSets> {
        self.sets.as_ref().map(|sets| ToolSets {
            available: self.with_others(&sets.available),
            first: self.allowed(self.with_others(&sets.first)),
            usual: self.with_others(&sets.usual),
            filter: sets.filter.clone(),
        })
    }

    /// What is wrong with the names of tools in the options and the settings, once.
    fn unknown(&mut self) -> Vec<ToolChoiceError> {
        let tools = self.all();
        let sets = self.sets.as_ref().filter(|_| !std::mem::replace(&mut self.is_checked, true));
        sets.map(|sets| sets.filter.unknown(&tools)).unwrap_or_default()
    }
}

/// Gives an agent tools from another task.
struct DriverTools(WeakUnboundedSender<DriverInput>, FormAsker);

/// What sources of tools get of the driver that reads these inputs.
pub(crate) fn tool_taker(to: &UnboundedSender<DriverInput>, asker: FormAsker) -> Arc<dyn ToolTaker> {
    Arc::new(DriverTools(to.downgrade(), asker))
}

impl DriverTools {
    fn send(&self, input: DriverInput) {
        if let Some(to) = self.0.upgrade() {
            drop(to.send(input));
        }
    }
}

impl ToolTaker for DriverTools {
    fn set(&self, source: ToolSource, tools: Vec<Arc<dyn Tool>>) {
        let set = SetTools { source, tools: ToolList(tools.into()) };
        self.send(DriverInput::Asked(set.asked(ReplyTo::channel().0)));
    }

    fn tell(&self, words: String) {
        self.send(DriverInput::SourceTold(words));
    }

    fn asker(&self) -> FormAsker {
        self.1.clone()
    }
}

impl Driver {
    pub(super) fn source_told(&mut self, message: String) {
        self.outbox.tell(Event::Notice { code: NoticeCode::ToolSource, message, entry_id: None });
    }

    pub(super) fn set_tools(&mut self, source: ToolSource, tools: &ToolList) {
        let before = self.tool_set.hidden();
        let are_all_known = source == ToolSource::Extensions;
        self.change_tools(|driver| driver.tool_set.set(source, tools.0.to_vec()));
        let unknown = if are_all_known { self.tool_set.unknown() } else { Vec::new() };
        for unknown in unknown {
            let message = unknown.to_string();
            self.outbox.tell(Event::Notice { code: NoticeCode::ToolsMissing, message, entry_id: None });
        }
        for hidden in self.tool_set.hidden().iter().filter(|hidden| !before.contains(hidden)) {
            let HiddenTool { name, source, by } = hidden;
            let message = if source == by {
                format!("{source} has several tools named {name}: the first is used")
            } else {
                format!("the tool {name} of {source} is not used: {by} has a tool of this name")
            };
            self.outbox.tell(Event::Notice { code: NoticeCode::ToolHidden, message, entry_id: None });
        }
    }

    /// Takes a setup that was read anew. The tools in use stay in use.
    pub(super) fn reload_tools(&mut self, new: &Setup) {
        self.change_tools(|driver| {
            driver.setup.reload(new.clone());
            driver.tool_set.set_base(&driver.setup);
        });
    }

    /// From the next request on; the next prompt stores them if they are unusual.
    pub(super) fn activate_tools(&mut self, names: &[String]) {
        let all = self.tool_set.usable();
        self.setup.tools = all.into_iter().filter(|tool| names.iter().any(|name| name == tool.name())).collect();
    }

    /// Changes which tools there are. Tools that the branch gains or loses by it come into use or go out of it; otherwise the
    /// tools in use stay, whoever has chosen them.
    fn change_tools(&mut self, change: impl FnOnce(&mut Self)) {
        let names = |tools: &[Arc<dyn Tool>]| tools.iter().map(|tool| tool.name().to_owned()).collect::<Vec<_>>();
        let (in_use, before) = (names(&self.setup.tools), names(&self.branch_tools()));
        change(self);
        self.setup.tool_sets = self.tool_set.sets();
        let has = |names: &[String], tool: &Arc<dyn Tool>| names.iter().any(|name| name == tool.name());
        let mut tools = self.branch_tools();
        let of_branch = names(&tools);
        tools.retain(|tool| has(&in_use, tool) || !has(&before, tool));
        let all = self.tool_set.all().into_iter();
        tools.extend(all.filter(|tool| has(&in_use, tool) && !has(&before, tool) && !has(&of_branch, tool)));
        self.setup.tools = tools;
    }

    /// The tools of a branch as it is, without what was chosen since.
    fn branch_tools(&self) -> Vec<Arc<dyn Tool>> {
        match self.tool_set.sets() {
            Some(sets) => sets.of(&self.writer.recorded().prompt).0,
            None => self.tool_set.with_others(&self.tool_set.first),
        }
    }
}
