//! Questions that tools and servers put to the person: told to whoever listens, answered once. Several may be open.

use std::collections::BTreeMap;

use offshoot_protocol::request::AnswerForm;
use offshoot_protocol::{AgentError, Event, Form, FormAnswer};
use offshoot_session::todo::TodoList;
use tokio::sync::oneshot;

use super::{Driver, DriverInput};
use crate::request_queue::ReplyTo;
use crate::setup::Approver;
use crate::tool::{ConversationLink, FormAsker, FormMessage, TodoLists};
use crate::turn::Ticket;

/// The open questions.
pub(super) struct Forms {
    open: BTreeMap<u64, (Form, oneshot::Sender<FormAnswer>)>,
    /// What asks them.
    asker: FormAsker,
    /// The todo list that the calls of a turn share.
    lists: Option<(Ticket, TodoLists)>,
}

impl Forms {
    pub(super) fn new(own: &tokio::sync::mpsc::UnboundedSender<DriverInput>) -> Self {
        // The agent may have ended, and is not kept from it by those who may ask.
        let own = own.downgrade();
        let asker = FormAsker::new(move |message| {
            if let Some(own) = own.upgrade() {
                drop(own.send(DriverInput::Form(message)));
            }
        });
        Self { open: BTreeMap::new(), asker, lists: None }
    }
}

impl Driver {
    /// What the calls of a turn have of their conversation.
    pub(super) fn conversation(&mut self, ticket: Ticket) -> ConversationLink {
        let lists = match self.forms.lists.take().filter(|(turn, _)| *turn == ticket) {
            Some((_, lists)) => lists,
            None => {
                let handle = self.writer.handle().clone();
                TodoLists::new(move || {
                    let handle = handle.clone();
                    Box::pin(async move {
                        let read = handle.ask(|owned| TodoList::at(owned.session(), owned.session().leaf())).await;
                        match read {
                            Ok(list) => list.map(Option::unwrap_or_default).map_err(|error| error.to_string()),
                            Err(error) => Err(error.to_string()),
                        }
                    })
                })
            }
        };
        self.forms.lists = Some((ticket, lists.clone()));
        let link = ConversationLink::new(lists, self.person());
        link.with_background(self.background.clone()).with_plans(self.plan_keeper())
    }

    /// Who asks the person: for a child its parent does.
    fn person(&self) -> Option<FormAsker> {
        let of_parent = self.setup.family.own.as_ref().map(|own| own.asker.clone());
        self.can_ask().then(|| of_parent.unwrap_or_else(|| Some(self.forms.asker.clone())))?
    }

    /// What children have of the conversation: somebody to ask.
    pub(super) fn forms_for_children(&self) -> ConversationLink {
        ConversationLink::of_asker(self.person())
    }

    /// Asks the person. Whoever has it may outlive the agent.
    pub(crate) fn asker(&self) -> FormAsker {
        self.forms.asker.clone()
    }

    /// Whether somebody answers questions.
    pub(super) fn can_ask(&self) -> bool {
        matches!(self.setup.approver, Approver::FrontEnd(_))
    }

    pub(super) fn form(&mut self, message: FormMessage) {
        match message {
            FormMessage::Ask(_, _, answer) if !self.can_ask() || !self.outbox.has_listeners() => {
                drop(answer.send(FormAnswer::Cancel));
            }
            FormMessage::Ask(id, form, answer) => {
                self.forms.open.insert(id, (form.clone(), answer));
                self.outbox.tell(Event::QuestionRequest { id, form });
            }
            FormMessage::Withdraw(id) => self.end_form(id),
        }
    }

    fn end_form(&mut self, id: u64) {
        if self.forms.open.remove(&id).is_some() {
            self.outbox.tell(Event::QuestionEnd { id });
        }
    }

    /// The first answer wins.
    pub(super) fn answer_form(&mut self, AnswerForm { id, answer }: AnswerForm, reply: ReplyTo<()>) {
        let Some((form, _)) = self.forms.open.get(&id) else {
            return reply.refuse(AgentError::Busy("the question was answered already"));
        };
        if let FormAnswer::Send(answers) = &answer
            && let Err(why) = form.check(answers)
        {
            return reply.refuse(AgentError::Failed(format!("the answer does not fit the question: {why}")));
        }
        if let Some((_, waiting)) = self.forms.open.remove(&id) {
            // The call may have ended.
            drop(waiting.send(answer));
            self.outbox.tell(Event::QuestionEnd { id });
        }
        reply.answer(());
    }
}
