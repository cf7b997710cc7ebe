//! Where a table has which models, since a file may define thousands.

use std::collections::HashMap;

use offshoot_protocol::model::Model;

#[derive(Default)]
pub(super) struct ModelPlaces {
    providers: HashMap<String, ProviderPlaces>,
    count: usize,
}

#[derive(Default)]
struct ProviderPlaces {
    all: Vec<usize>,
    by_id: HashMap<String, usize>,
}

impl ModelPlaces {
    pub(super) fn of(list: &[Model]) -> Self {
        let mut places = Self::default();
        list.iter().for_each(|model| places.push(model));
        places
    }

    /// The model becomes the last of the table.
    pub(super) fn push(&mut self, model: &Model) {
        let places = self.providers.entry(model.provider.clone()).or_default();
        places.all.push(self.count);
        places.by_id.insert(model.id.clone(), self.count);
        self.count += 1;
    }

    pub(super) fn get(&self, provider: &str, id: &str) -> Option<usize> {
        self.providers.get(provider)?.by_id.get(id).copied()
    }

    pub(super) fn of_provider(&self, provider: &str) -> &[usize] {
        self.providers.get(provider).map_or(&[], |places| &places.all)
    }
}
