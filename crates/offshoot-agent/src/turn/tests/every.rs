//! Every input in every state.

use super::*;

fn inputs((ticket, run): (Ticket, u64)) -> Vec<TurnInput> {
    vec![
        TurnInput::Prompt(vec![user("p")]),
        TurnInput::Steer(user("s")),
        TurnInput::FollowUp(user("f")),
        TurnInput::ClearQueue,
        walk(),
        ran("x"),
        TurnInput::Continue,
        TurnInput::Admitted { ticket, added: Vec::new(), open: None },
        TurnInput::NotAdmitted { ticket, error: AgentError::Ended },
        TurnInput::Measured { ticket, tokens: 5 },
        TurnInput::Built { ticket, tokens: 5, blank: Box::new(said("")) },
        TurnInput::BuildFailed { ticket, error: AgentError::Ended },
        TurnInput::Delta { ticket, delta: Delta::Start },
        TurnInput::Delta { ticket, delta: Delta::Done(Box::new(Answer { message: calling(&["x"]), failure: None })) },
        TurnInput::Recorded { ticket },
        TurnInput::Partial { ticket, call: 0, outcome: ToolOutcome::text("x") },
        TurnInput::Ended { ticket, call: 0, outcome: ToolOutcome::text("x"), at: 1 },
        TurnInput::Elapsed { ticket },
        TurnInput::Planned { ticket },
        TurnInput::Trying { ticket, trying: Trying::Started },
        TurnInput::Drafted { ticket, draft: JobDraft::Ready { warning: None } },
        TurnInput::Committed { ticket, result: Ok(compacted()) },
        TurnInput::Committed { ticket, result: Err(AgentError::Ended) },
        TurnInput::TurnClosed { ticket, continues: true },
        TurnInput::MaySettle { ticket, continues: true },
        TurnInput::WriteFailed { run, error: AgentError::Ended, records: Vec::new() },
        TurnInput::StreamBroke { ticket, why: "cut".to_owned(), at: 3 },
        TurnInput::Abort { at: 3 },
    ]
}

/// The machine stays consistent, and every started run ends.
#[test]
fn every_input_in_every_state() {
    let asked = || TurnConfig { asks_at_turn_end: true, asks_before_settling: true, ..TurnConfig::default() };
    let states: [&dyn Fn() -> Run; 12] = [
        &Run::new,
        &|| {
            let mut run = Run::new();
            run.put(TurnInput::Prompt(vec![user("go")]));
            run
        },
        &|| {
            let mut run = Run::new();
            run.prompt("go");
            run
        },
        &Run::streaming,
        &|| {
            let mut run = Run::streaming();
            run.delta(Delta::Done(Box::new(Answer { message: said("x"), failure: None })));
            run
        },
        &|| Run::working(&["bash", "read"]),
        &|| {
            let mut run = Run::working(&["bash", "read"]);
            run.abort();
            run
        },
        &|| {
            let mut run = Run::streaming();
            run.answered(error("busy"), transient(None));
            run
        },
        &|| {
            let mut run = Run::new();
            run.put(TurnInput::Do(Job::Compaction { reason: Reason::Manual, instructions: None }));
            run
        },
        &|| {
            let mut run = Run::new();
            run.put(walk()).drafted(JobDraft::Ready { warning: None });
            run
        },
        &|| {
            let mut run = Run::with(asked());
            run.prompt("go").built(10).answered(said("x"), None);
            run
        },
        &|| {
            let mut run = Run::with(asked());
            run.prompt("go").built(10).answered(said("x"), None).closed(false);
            run
        },
    ];
    for (number, state) in states.iter().enumerate() {
        for at in 0..inputs((0, 0)).len() {
            let mut run = state();
            let input = inputs((run.ticket(), run.state.run)).swap_remove(at);
            let named = format!("state {number}, {input:?}");
            run.put(input);
            // From any state, a stop and the outstanding replies bring it to rest.
            run.abort();
            run.ended(0, "stopped").ended(1, "stopped");
            run.recorded();
            run.committed();
            run.closed(false).may_settle(false);
            assert!(run.state.is_idle(), "{named}: {:?}", run.state);
            let told = run.said();
            let (started, settled) = (told.matches("agent_start").count(), told.matches("SETTLE").count());
            assert!(settled >= 1 || started == 0 || told.contains("REFUSE"), "{named}: {told}");
        }
    }
}
