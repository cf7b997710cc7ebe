//! Caches the properties of stored images, each as long as the image is in use.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use offshoot_session::transcript::StoredPicture;

use crate::image::{About, Picture};

/// Clones share the cache.
#[derive(Debug, Clone, Default)]
pub struct PictureFacts {
    known: Arc<Mutex<HashMap<usize, KnownPicture>>>,
}

/// The weak pointer keeps the image's address from being reused.
#[derive(Debug)]
struct KnownPicture {
    picture: Weak<StoredPicture>,
    about: About,
}

impl PictureFacts {
    #[must_use]
    pub fn about(&self, picture: &Arc<StoredPicture>) -> About {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let address = Arc::as_ptr(picture).addr();
        if let Some(known) = known.get(&address) {
            return known.about.clone();
        }
        known.retain(|_, known| known.picture.strong_count() > 0);
        let about = decoded(picture).about().clone();
        known.insert(address, KnownPicture { picture: Arc::downgrade(picture), about: about.clone() });
        about
    }
}

pub(crate) fn decoded(picture: &StoredPicture) -> Picture {
    Picture::of_block(&picture.data, &picture.mime_type)
}
