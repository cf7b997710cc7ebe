//! The models of one provider: those of the catalogue, parsed when they are asked for, with a user's changes over them.

use std::collections::HashMap;
use std::sync::OnceLock;

use offshoot_protocol::model::Model;

use super::catalogue::CatalogueProvider;
use super::definition;
use super::file::{Definition, Provider};

#[derive(Debug, Clone)]
pub(super) struct ProviderModels {
    pub(super) name: String,
    pub(super) catalogue: Option<&'static CatalogueProvider>,
    list: OnceLock<Vec<Model>>,
    /// Whether a file or an extension said something of it.
    is_changed: bool,
    /// Whether an extension registered it: then it may have wire formats of its own.
    pub(super) is_registered: bool,
}

impl ProviderModels {
    pub(super) fn new(name: &str) -> Self {
        let list = OnceLock::from(Vec::new());
        Self { name: name.to_owned(), catalogue: None, list, is_changed: true, is_registered: false }
    }

    pub(super) fn of_catalogue(provider: &'static CatalogueProvider) -> Self {
        let name = provider.id.to_owned();
        Self { name, catalogue: Some(provider), list: OnceLock::new(), is_changed: false, is_registered: false }
    }

    /// Parses the rows of the catalogue, the first time.
    pub(super) fn models(&self) -> &[Model] {
        self.list.get_or_init(|| self.catalogue.map(CatalogueProvider::models).unwrap_or_default())
    }

    /// Those that files and extensions have defined or changed: nothing is parsed for this.
    pub(super) fn changed_models(&self) -> &[Model] {
        self.list.get().filter(|_| self.is_changed).map_or(&[], Vec::as_slice)
    }

    #[cfg(test)]
    pub(super) fn is_parsed(&self) -> bool {
        self.list.get().is_some()
    }

    /// Whether it is as in the catalogue.
    pub(super) fn is_as_in_catalogue(&self) -> bool {
        self.catalogue.is_some() && !self.is_changed
    }

    pub(super) fn count(&self) -> usize {
        match self.catalogue.filter(|_| !self.is_changed) {
            Some(catalogue) => catalogue.ids().count(),
            None => self.models().len(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.is_as_in_catalogue() && self.models().is_empty()
    }

    /// Whether it has a model of this id, whose case does not count.
    pub(super) fn has(&self, id: &str) -> bool {
        match self.catalogue.filter(|_| !self.is_changed) {
            Some(catalogue) => catalogue.ids().any(|known| known.eq_ignore_ascii_case(id)),
            None => self.models().iter().any(|model| model.id.eq_ignore_ascii_case(id)),
        }
    }

    /// Changes the list.
    pub(super) fn change(&mut self, change: impl FnOnce(&mut Vec<Model>)) {
        let parsed = || self.catalogue.map(CatalogueProvider::models).unwrap_or_default();
        let mut list = self.list.take().unwrap_or_else(parsed);
        change(&mut list);
        self.list = OnceLock::from(list);
        self.is_changed = true;
    }

    /// Takes what a file says of the provider. `note` gets the id of a definition that is wrong, and why.
    pub(super) fn apply(&mut self, provider: &Provider, note: &mut dyn FnMut(&str, String)) {
        let name = self.name.clone();
        self.change(|list| apply(&name, provider, list, note));
    }
}

fn apply(name: &str, provider: &Provider, list: &mut Vec<Model>, note: &mut dyn FnMut(&str, String)) {
    for model in list.iter_mut() {
        definition::apply_provider(model, provider);
    }
    // A file may define thousands.
    let mut places: HashMap<String, usize> =
        list.iter().enumerate().map(|(at, model)| (model.id.clone(), at)).collect();
    for definition in &provider.models {
        let old = places.get(&definition.id).and_then(|at| list.get(*at));
        let like = old.or_else(|| sibling(list, provider, definition));
        match definition::define(name, provider, definition, like) {
            Ok(model) => match places.get(&model.id).and_then(|at| list.get_mut(*at)) {
                Some(known) => *known = model,
                None => {
                    places.insert(model.id.clone(), list.len());
                    list.push(model);
                }
            },
            Err(what) => note(&definition.id, what),
        }
    }
    for (id, details) in &provider.model_overrides.0 {
        if let Some(model) = places.get(id).and_then(|at| list.get_mut(*at)) {
            definition::apply_details(model, details);
        }
    }
}

/// The model from which a new one takes its address and wire format, as in pi.
fn sibling<'a>(list: &'a [Model], provider: &Provider, definition: &Definition) -> Option<&'a Model> {
    let api = definition.api.as_ref().or(provider.api.as_ref());
    let of = |api: &str| list.iter().find(|model| model.api == api);
    api.and_then(|api| of(api)).or_else(|| of("openai-completions")).or_else(|| list.first())
}
