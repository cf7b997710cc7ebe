//! The bounds of what is recorded. Data only.

/// How much is recorded of a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileLimits {
    /// The largest file, in bytes.
    pub file: u64,
    /// The largest store, in bytes.
    pub store: u64,
    /// The most files that a scan looks at.
    pub files: usize,
    /// The most bytes that one scan stores: the first one all that git does not have.
    pub stored: u64,
    /// The most bytes that one scan reads.
    pub read: u64,
    /// The most changes that an entry holds itself.
    pub changes: usize,
}

impl FileLimits {
    /// The largest file that can be recorded, whatever `file` says: a file is held in memory.
    pub const LARGEST_FILE: u64 = 256 << 20;
}

impl Default for FileLimits {
    fn default() -> Self {
        Self { file: 10 << 20, store: 2 << 30, files: 100_000, stored: 1 << 30, read: 8 << 30, changes: 1000 }
    }
}
