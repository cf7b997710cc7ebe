//! Follows the conversation: finished blocks come after the path, and then the work under way.

use std::sync::Arc;

use super::path::Key;
use super::{Followed, Streams, Transcript};
use crate::conversation::{Conversation, LiveAnswer, UnderWay};
use crate::message::{AnswerContext, PartRange, RenderedRows};

impl Transcript {
    /// Takes the changes since the last frame. A conversation that has gone to another place is no longer followed.
    pub(super) fn follow(&mut self, conversation: &Conversation) {
        let is_own = |followed: &mut Followed| followed.place == conversation.place_number();
        let Some(mut followed) = self.followed.take_if(is_own) else { return };
        if followed.version != Some(conversation.version()) {
            followed.version = Some(conversation.version());
            self.take_finished(conversation, &mut followed);
            let under_way = conversation.under_way().enumerate();
            self.under_way = under_way
                .map(|(at, under_way)| match under_way {
                    UnderWay::Answer(answer) => self.lay_out_answer(answer, &mut followed),
                    UnderWay::Item(item) => {
                        self.look().rows(item, self.folds(Key::UnderWay(at)), AnswerContext::default())
                    }
                })
                .map(Arc::new)
                .collect();
        }
        self.followed = Some(followed);
    }

    /// Takes the finished blocks. Open parts of an answer stay open in its block.
    fn take_finished(&mut self, conversation: &Conversation, followed: &mut Followed) {
        for (number, finished) in conversation.finished_from(followed.next) {
            let key = Key::Live(number);
            if finished.progress.as_ref().is_some_and(|progress| progress.id == followed.answer) {
                let flipped = self.flipped.remove(&Key::UnderWay(0));
                self.flipped.extend(flipped.map(|flipped| (key, flipped)));
                let focus = self.focus.filter(|(focused, _)| *focused == Key::UnderWay(0));
                self.focus = focus.map(|(_, part)| (key, part)).or(self.focus);
            }
            self.path.push_block(number, finished.block.item.shape());
            self.live.insert(number, Arc::clone(&finished.block));
            followed.next = number + 1;
        }
    }

    fn lay_out_answer(&self, answer: &LiveAnswer, followed: &mut Followed) -> RenderedRows {
        if followed.answer != answer.progress().id {
            (followed.answer, followed.streams) = (answer.progress().id, Streams::default());
        }
        let (look, folds, block) = (self.look(), self.folds(Key::UnderWay(0)), answer.block());
        followed.streams.follow(block.parts(), answer.progress(), PartRange::default());
        let texts = followed.streams.rows(&look, folds, (PartRange::default(), usize::MAX));
        let beside = AnswerContext { results: &block.results, is_live: true, texts: Some(&texts) };
        let mut rows = look.rows(&block.item, folds, beside);
        look.put_time(&mut rows, block.time);
        rows
    }
}
