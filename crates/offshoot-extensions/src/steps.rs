//! Waits for an end and passes on the steps before it.

use tokio::sync::mpsc::UnboundedReceiver;

/// Passes on every step, also those that come at once with the end.
pub(crate) async fn passing<T, S>(
    ending: impl Future<Output = T>,
    mut steps: UnboundedReceiver<S>,
    mut pass: impl FnMut(S),
) -> T {
    tokio::pin!(ending);
    let ended = loop {
        tokio::select! {
            biased;
            Some(step) = steps.recv() => pass(step),
            ended = &mut ending => break ended,
        }
    };
    while let Ok(step) = steps.try_recv() {
        pass(step);
    }
    ended
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc::unbounded_channel;

    use super::*;

    /// Story: under load, the output of a command that an extension ran elsewhere was empty.
    #[tokio::test]
    async fn steps_that_come_at_once_with_the_end_are_passed_on() {
        let (to, steps) = unbounded_channel();
        let ending = async move {
            to.send(1).unwrap();
            to.send(2).unwrap();
            "end"
        };
        let mut passed = Vec::new();
        assert_eq!(passing(ending, steps, |step| passed.push(step)).await, "end");
        assert_eq!(passed, [1, 2]);
    }
}
