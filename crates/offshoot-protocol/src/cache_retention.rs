//! How long a provider is asked to keep the beginning of a conversation in its cache.

/// How long a provider is asked to keep the beginning of a conversation in its cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum CacheRetention {
    /// Nothing is marked for the cache, and no request names its session.
    None,
    /// The provider's usual time: minutes.
    #[default]
    Short,
    /// The longer time that a provider offers: from half an hour to a day. Some charge more for it.
    Long,
}

impl CacheRetention {
    /// From the shortest to the longest.
    pub const ALL: [Self; 3] = [Self::None, Self::Short, Self::Long];

    /// The retention with the name that settings and variables use.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|retention| retention.as_str() == name)
    }

    /// `none`, `short`, `long`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Short => "short",
            Self::Long => "long",
        }
    }
}
