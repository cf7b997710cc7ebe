//! A disk that fails on demand: operations are counted, and chosen ones fail in chosen ways.
//!
//! Two layers, as in a real system: what programs see, and what survives a power failure. Knows bytes only.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::medium::{Medium, MediumState};

/// How an operation fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It does nothing.
    Fail,
    /// An append writes half of its bytes and fails, as on a full disk. Other operations do nothing.
    Short,
    /// A sync fails and loses its pages: bytes that were not synced become NUL. Other operations do nothing.
    Forget,
    /// The machine stops; an append is half done. Nothing works until [`FaultMedium::restart`].
    Crash(Loss),
}

/// What a crash loses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// Nothing, because only the process ended.
    Nothing,
    /// Everything that was not synced.
    Unsynced,
    /// The second half of what was not synced.
    HalfOfUnsynced,
    /// The content of what was not synced: its bytes are NUL.
    ZeroedUnsynced,
    /// The content of the first page of it; later pages reached the disk earlier.
    FirstUnsyncedPage,
}

const PAGE: usize = 4096;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as the methods of `Medium`")]
pub enum Operation {
    Len,
    Read,
    Lock,
    Unlock,
    Append,
    Sync,
    Truncate,
}

/// Bytes in memory with operations that fail on demand. Clones share them, as two open handles of a file do.
#[derive(Debug, Clone, Default)]
pub struct FaultMedium {
    state: Arc<Mutex<FaultState>>,
}

#[derive(Debug, Default)]
struct FaultState {
    seen: Vec<u8>,
    /// How many of the seen bytes are on the disk.
    synced: usize,
    log: Vec<Operation>,
    faults: Vec<(usize, Fault)>,
    crashed: Option<Loss>,
    has_no_locks: bool,
    is_full: bool,
}

#[expect(missing_docs, reason = "the names of the others say what they return")]
impl FaultMedium {
    /// Starts with these bytes on the disk.
    pub fn new(bytes: Vec<u8>) -> Self {
        let state = FaultState { synced: bytes.len(), seen: bytes, ..FaultState::default() };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// Makes the operation with this number fail, counted from 0.
    #[must_use]
    pub fn with_fault(self, operation: usize, fault: Fault) -> Self {
        self.state().faults.push((operation, fault));
        self
    }

    /// Has no locks, as some network file systems.
    #[must_use]
    pub fn without_locks(self) -> Self {
        self.state().has_no_locks = true;
        self
    }

    /// Sets whether appends write half of their bytes and fail.
    pub fn set_full(&self, is_full: bool) {
        self.state().is_full = is_full;
    }

    pub fn log(&self) -> Vec<Operation> {
        self.state().log.clone()
    }

    /// The bytes that programs see.
    pub fn bytes(&self) -> Vec<u8> {
        self.state().seen.clone()
    }

    pub fn is_crashed(&self) -> bool {
        self.state().crashed.is_some()
    }

    /// Restarts after a crash with what survived it.
    pub fn restart(&self) {
        let mut state = self.state();
        let (synced, unsynced) = (state.synced, state.seen.len() - state.synced);
        match state.crashed.take() {
            None | Some(Loss::Nothing) => {}
            Some(Loss::Unsynced) => state.seen.truncate(synced),
            Some(Loss::HalfOfUnsynced) => state.seen.truncate(synced + unsynced / 2),
            Some(Loss::ZeroedUnsynced) => state.seen[synced..].fill(0),
            Some(Loss::FirstUnsyncedPage) => {
                let end = (synced / PAGE + 1) * PAGE;
                let end = end.min(state.seen.len());
                state.seen[synced..end].fill(0);
            }
        }
        state.synced = state.seen.len();
    }

    fn state(&self) -> MutexGuard<'_, FaultState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts an operation; returns the fault if it fails.
    fn begin(&self, operation: Operation) -> (MutexGuard<'_, FaultState>, Option<Fault>) {
        let mut state = self.state();
        if state.crashed.is_some() {
            return (state, Some(Fault::Fail));
        }
        let number = state.log.len();
        state.log.push(operation);
        let fault = state.faults.iter().find(|(at, _)| *at == number).map(|(_, fault)| *fault);
        match fault {
            Some(Fault::Crash(loss)) => state.crashed = Some(loss),
            Some(Fault::Forget) if operation == Operation::Sync => {
                let synced = state.synced;
                state.seen[synced..].fill(0);
            }
            Some(Fault::Fail | Fault::Short | Fault::Forget) | None => {}
        }
        (state, fault)
    }

    /// An operation that can only fail as a whole.
    fn whole(&self, operation: Operation) -> io::Result<MutexGuard<'_, FaultState>> {
        match self.begin(operation) {
            (state, None) => Ok(state),
            (_, Some(_)) => Err(failure()),
        }
    }
}

fn failure() -> io::Error {
    io::Error::other("a fault on demand")
}

impl Medium for FaultMedium {
    fn path(&self) -> &Path {
        Path::new("(faulty)")
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.whole(Operation::Len)?.seen.len() as u64)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let state = self.whole(Operation::Read)?;
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(state.seen.len());
        let rest = &state.seen[start..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn lock(&mut self) -> io::Result<MediumState> {
        let state = self.whole(Operation::Lock)?;
        if state.has_no_locks {
            return Err(io::ErrorKind::Unsupported.into());
        }
        Ok(MediumState { is_current: true, length: state.seen.len() as u64 })
    }

    fn unlock(&mut self) -> io::Result<()> {
        self.whole(Operation::Unlock).map(drop)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let was_crashed = self.is_crashed();
        let (mut state, fault) = self.begin(Operation::Append);
        let fault = fault.or_else(|| state.is_full.then_some(Fault::Short));
        let written = match fault {
            None => bytes.len(),
            Some(Fault::Short | Fault::Crash(_)) if !was_crashed => bytes.len() / 2,
            Some(_) => 0,
        };
        state.seen.extend_from_slice(&bytes[..written]);
        fault.map_or(Ok(()), |_| Err(failure()))
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut state = self.whole(Operation::Sync)?;
        state.synced = state.seen.len();
        Ok(())
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        let mut state = self.whole(Operation::Truncate)?;
        state.seen.truncate(usize::try_from(length).unwrap_or(usize::MAX));
        state.synced = state.synced.min(state.seen.len());
        Ok(())
    }
}
