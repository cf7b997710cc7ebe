//! The cost of a long session is the cost of its visible part.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// A session that counts the bodies that are read.
struct Counted<'a> {
    session: &'a Session,
    read: AtomicUsize,
}

impl Source for Counted<'_> {
    fn tree(&self) -> &offshoot_session::tree::Tree {
        self.session.tree()
    }

    fn entry(&self, ix: NodeIx) -> Result<Entry> {
        self.read.fetch_add(1, Ordering::Relaxed);
        self.session.entry(ix)
    }

    fn raw_span(&self, ix: NodeIx) -> Option<(u64, u64)> {
        self.session.raw_span(ix)
    }
}

#[test]
fn in_a_hundred_thousand_entries_a_page_costs_a_page() {
    let session = numbered(50_000);
    let source = Counted { session: &session, read: AtomicUsize::new(0) };
    let theme = Theme::default();
    let mut transcript = opened(&session);
    let cost = |transcript: &mut Transcript, to: Move| {
        let before = source.read.load(Ordering::Relaxed);
        transcript.go(to);
        fill(transcript, &source, &theme, Size::new(80, 24));
        source.read.load(Ordering::Relaxed) - before
    };
    assert_eq!(cost(&mut transcript, Move::Bottom), 12, "the first frame");
    for _ in 0..1_000 {
        let read = cost(&mut transcript, Move::PageUp);
        assert!(read <= 12, "{read}");
        assert!(transcript.laid.weight() <= KEPT_ROWS + 2 * 48, "{}", transcript.laid.weight());
        assert!(transcript.bodies.weight() <= KEPT_BYTES + (64 << 10), "{}", transcript.bodies.weight());
        // Nothing else is kept of the rows that were passed.
        let lists = [transcript.visible.capacity(), transcript.moves.capacity(), transcript.wanted.capacity()];
        assert!(lists.iter().sum::<usize>() <= 256, "{lists:?}");
        assert_eq!((transcript.live.len(), transcript.flipped.len(), transcript.under_way.len()), (0, 0, 0));
    }
    for to in [Move::Top, Move::Bottom, Move::Top, Move::NextUser, Move::Bottom, Move::PreviousUser, Move::Up(1)] {
        let read = cost(&mut transcript, to);
        assert!(read <= 13, "{to:?}: {read}");
    }
    assert_eq!(cost(&mut transcript, Move::Down(1)), 0, "what was seen is known");
}

#[test]
fn large_bodies_are_kept_within_bounds() {
    let text = "word ".repeat(20_000);
    let messages: Vec<_> = (0..48).map(|n| format!(r#"{{"role":"user","content":"{n} {text}"}}"#)).collect();
    let session = session(&messages.iter().map(String::as_str).collect::<Vec<_>>());
    let mut transcript = opened(&session);
    for _ in 0..48 {
        transcript.go(Move::PreviousUser);
        fill(&mut transcript, &session, &Theme::default(), Size::new(80, 24));
        assert!(transcript.laid.weight() <= KEPT_ROWS + 3 * 1_300, "{}", transcript.laid.weight());
        assert!(transcript.bodies.weight() <= KEPT_BYTES + 4 * text.len(), "{}", transcript.bodies.weight());
    }
}

#[test]
fn bodies_that_come_late_show_where_they_will_be() {
    let session = numbered(30);
    let mut transcript = opened(&session);
    let wanted = lay_out(&mut transcript, Size::new(30, 6));
    assert_eq!(drawn(&transcript, 30, 6), "\n  …\n\n  …\n\n  …\n");
    transcript.supply(wanted.iter().map(|ix| session.entry(*ix).unwrap()));
    assert!(lay_out(&mut transcript, Size::new(30, 6)).is_empty());
    assert_eq!(drawn(&transcript, 30, 6), "\n  answer 29\n\n› question 30\n\n  answer 30\n");
    transcript.go(Move::Up(20));
    let mut rounds = 0;
    while let wanted @ [_, ..] = lay_out(&mut transcript, Size::new(30, 6)).as_slice() {
        transcript.supply(wanted.iter().map(|ix| session.entry(*ix).unwrap()));
        rounds += 1;
    }
    assert_eq!(drawn(&transcript, 30, 6), "\n  answer 24\n\n› question 25\n\n  answer 25\n");
    assert!(rounds <= 20, "{rounds}");
}

#[test]
fn an_answer_with_very_many_results_is_cut_and_says_so() {
    let mut messages = vec![r#"{"role":"assistant","content":[],"stopReason":"toolUse"}"#.to_owned()];
    let result = |n: usize| {
        format!(
            r#"{{"role":"toolResult","toolCallId":"{n}","toolName":"t","content":[{{"type":"text","text":"x"}}],"isError":false}}"#
        )
    };
    messages.extend((0..300).map(result));
    let session = session(&messages.iter().map(String::as_str).collect::<Vec<_>>());
    let mut transcript = opened(&session);
    let screen = screen(&mut transcript, &session, 40, 3);
    assert!(screen.ends_with("… 44 more results are not shown\n"), "{screen}");
}
