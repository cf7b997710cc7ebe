//! Resources that are looked for on a thread of their own while the program starts. Whoever needs them waits.

use std::ops::Deref;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{Builder, JoinHandle};

use super::{ResourcePlaces, Resources, first_of_each};

/// What was found, and what is wrong with it, in words.
type Found = (Resources, Vec<String>);

/// Files and folders of prompt templates and skills that are named after the start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct AddedPaths {
    pub templates: Vec<PathBuf>,
    pub skills: Vec<PathBuf>,
}

/// Resources that may still be looked for. Reading them waits for the end of the search; clones share it.
#[derive(Debug, Clone, Default)]
pub struct SharedResources(Arc<ResourceSearch>);

#[derive(Debug, Default)]
struct ResourceSearch {
    found: OnceLock<Found>,
    search: Mutex<Option<JoinHandle<Found>>>,
}

impl SharedResources {
    /// Starts a search.
    pub fn search(find: impl FnOnce() -> Found + Send + 'static) -> Self {
        let (found, search) = match Builder::new().name("resources".to_owned()).spawn(find) {
            Ok(search) => (OnceLock::new(), Some(search)),
            Err(error) => {
                let why = format!("cannot look for skills and prompt templates: {error}");
                (OnceLock::from((Resources::default(), vec![why])), None)
            }
        };
        Self(Arc::new(ResourceSearch { found, search: Mutex::new(search) }))
    }

    /// These, and after them those of files and folders that were named later.
    #[must_use]
    pub fn with(&self, added: AddedPaths) -> Self {
        let before = self.clone();
        Self::search(move || {
            let AddedPaths { templates, skills } = added;
            let (more, mut troubles) = ResourcePlaces { templates, skills, ..ResourcePlaces::default() }.find();
            let Resources { mut templates, mut skills, rules, agents } = Resources::clone(&before);
            templates.extend(more.templates);
            skills.extend(more.skills);
            let templates = first_of_each(templates, |template| &template.about, &mut troubles);
            let skills = first_of_each(skills, |skill| &skill.about, &mut troubles);
            (Resources { templates, skills, rules, agents }, troubles.iter().map(ToString::to_string).collect())
        })
    }

    /// What is wrong with the files, in words.
    pub fn troubles(&self) -> &[String] {
        &self.found().1
    }

    fn found(&self) -> &Found {
        self.0.found.get_or_init(|| {
            let search = self.0.search.lock().unwrap_or_else(PoisonError::into_inner).take();
            // A search that broke down has found nothing.
            search.and_then(|search| search.join().ok()).unwrap_or_default()
        })
    }
}

impl Deref for SharedResources {
    type Target = Resources;

    fn deref(&self) -> &Resources {
        &self.found().0
    }
}

/// Two are equal if they share a search.
impl PartialEq for SharedResources {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl From<Resources> for SharedResources {
    fn from(resources: Resources) -> Self {
        Self(Arc::new(ResourceSearch { found: OnceLock::from((resources, Vec::new())), search: Mutex::new(None) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_wait_for_the_search_and_share_it() {
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let shared = SharedResources::search(move || {
            wait.recv().unwrap();
            (Resources::default(), vec!["odd".to_owned()])
        });
        let reader = shared.clone();
        let reading = std::thread::spawn(move || reader.troubles().to_vec());
        go.send(()).unwrap();
        assert_eq!(reading.join().unwrap(), ["odd"]);
        assert_eq!(shared.troubles(), ["odd"]);
        assert!(shared.skills.is_empty());
    }
}
