//! What a tool can have of the conversation that its call belongs to: the todo list of the branch, and a person to ask. Knows no
//! session and no front end; whoever runs the calls makes the link.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use offshoot_protocol::{Form, FormAnswer};
use offshoot_session::todo::TodoList;
use tokio::sync::{Mutex, MutexGuard, oneshot};

/// What is read of the session.
pub type ReadList = Pin<Box<dyn Future<Output = Result<TodoList, String>> + Send>>;

/// The link from a call to its conversation; without one there is none.
#[derive(Clone, Default)]
pub struct ConversationLink {
    lists: Option<TodoLists>,
    asker: Option<FormAsker>,
}

impl fmt::Debug for ConversationLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ConversationLink")
    }
}

impl ConversationLink {
    /// A link to a list, and to somebody who can be asked.
    #[must_use]
    pub fn new(lists: TodoLists, asker: Option<FormAsker>) -> Self {
        Self { lists: Some(lists), asker }
    }

    pub(super) fn todo_lists(&self) -> Option<&TodoLists> {
        self.lists.as_ref()
    }

    pub(super) fn asker(&self) -> Option<&FormAsker> {
        self.asker.as_ref()
    }
}

/// The todo list that the calls of one answer share: a call finds what the one before it has left.
#[derive(Clone)]
pub struct TodoLists {
    current: Arc<Mutex<Option<TodoList>>>,
    read: Arc<dyn Fn() -> ReadList + Send + Sync>,
}

impl TodoLists {
    /// `read` gives the list of the branch as the session has it.
    pub fn new(read: impl Fn() -> ReadList + Send + Sync + 'static) -> Self {
        Self { current: Arc::default(), read: Arc::new(read) }
    }

    /// Calls get it in the order in which they began.
    pub(super) async fn lock(&self) -> MutexGuard<'_, Option<TodoList>> {
        self.current.lock().await
    }

    /// The list of now.
    ///
    /// # Errors
    /// The session cannot be read.
    pub(super) async fn current<'a>(&self, kept: &'a mut Option<TodoList>) -> Result<&'a TodoList, String> {
        let list = match kept.take() {
            Some(list) => list,
            None => (self.read)().await?,
        };
        Ok(kept.insert(list))
    }
}

/// What reaches whoever talks to the person.
#[derive(Debug)]
pub enum FormMessage {
    /// The number names the question in what follows.
    Ask(u64, Form, oneshot::Sender<FormAnswer>),
    /// Nobody waits for the answer any more.
    Withdraw(u64),
}

/// Asks the person. Anybody may have one; each question gets a number of its own.
#[derive(Clone)]
pub struct FormAsker {
    send: Arc<dyn Fn(FormMessage) + Send + Sync>,
    next: Arc<AtomicU64>,
}

impl fmt::Debug for FormAsker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FormAsker")
    }
}

impl FormAsker {
    /// Questions go to `send`.
    pub fn new(send: impl Fn(FormMessage) + Send + Sync + 'static) -> Self {
        Self { send: Arc::new(send), next: Arc::new(AtomicU64::new(1)) }
    }

    /// Waits for the answer. Dropping this takes the question back. Where nobody can be asked, it is [`FormAnswer::Cancel`].
    pub async fn ask(&self, form: Form) -> FormAnswer {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (answer, answered) = oneshot::channel();
        let waiting = WaitingForm { asker: self, id };
        (self.send)(FormMessage::Ask(id, form, answer));
        let answer = answered.await.unwrap_or(FormAnswer::Cancel);
        drop(waiting);
        answer
    }
}

struct WaitingForm<'a> {
    asker: &'a FormAsker,
    id: u64,
}

impl Drop for WaitingForm<'_> {
    fn drop(&mut self) {
        (self.asker.send)(FormMessage::Withdraw(self.id));
    }
}
