//! compact
