//! Whatever comes in whichever state.

use super::*;

/// Whatever comes in whichever state: the machine does not lose its way, and every run that began ends.
#[test]
fn every_input_in_every_state() {
    let inputs = |ticket: Ticket| {
        vec![
            Input::Prompt(vec![user("p")]),
            Input::Steer(user("s")),
            Input::FollowUp(user("f")),
            Input::ClearQueue,
            Input::Do(Job::Navigation),
            Input::Ran(Raw("{}".to_owned())),
            Input::Built { ticket, tokens: 5, blank: Box::new(said("")) },
            Input::BuildFailed { ticket, error: AgentError::Ended },
            Input::Delta { ticket, delta: Delta::Start },
            Input::Delta { ticket, delta: Delta::Done(Box::new(Answer { message: calling(&["x"]), failure: None })) },
            Input::Recorded { ticket },
            Input::Partial { ticket, call: 0, outcome: Outcome::text("x") },
            Input::Ended { ticket, call: 0, outcome: Outcome::text("x"), at: 1 },
            Input::Elapsed { ticket },
            Input::Planned { ticket },
            Input::Trying { ticket, trying: Trying::Started },
            Input::Drafted { ticket, draft: Draft::Ready { warning: None } },
            Input::Committed { ticket, result: Raw("null".to_owned()) },
            Input::WriteFailed { error: AgentError::Ended },
            Input::Abort { at: 3 },
        ]
    };
    let states: [fn() -> Run; 8] = [
        Run::new,
        || {
            let mut run = Run::new();
            run.prompt("go");
            run
        },
        Run::streaming,
        || {
            let mut run = Run::streaming();
            run.delta(Delta::Done(Box::new(Answer { message: said("x"), failure: None })));
            run
        },
        || Run::working(&["bash", "read"]),
        || {
            let mut run = Run::streaming();
            run.answered(error("busy"), transient(None));
            run
        },
        || {
            let mut run = Run::new();
            run.put(Input::Do(Job::Compaction { reason: Reason::Manual, instructions: None }));
            run
        },
        || {
            let mut run = Run::new();
            run.put(Input::Do(Job::Navigation)).drafted(Draft::Ready { warning: None });
            run
        },
    ];
    for (number, state) in states.iter().enumerate() {
        for at in 0..inputs(0).len() {
            let mut run = state();
            let input = inputs(run.ticket()).swap_remove(at);
            let named = format!("state {number}, {input:?}");
            run.put(input);
            // From wherever it is now, a stop and the answers that are still due bring it to rest.
            run.abort();
            run.recorded();
            run.committed();
            assert!(run.state.is_idle(), "{named}: {:?}", run.state);
            let told = run.said();
            let (started, settled) = (told.matches("agent_start").count(), told.matches("SETTLE").count());
            assert!(settled >= 1 || started == 0, "{named}: {told}");
        }
    }
}
