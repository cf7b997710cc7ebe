//! Random trees of agents whose server counts badly on purpose, within the margin.

use std::sync::atomic::{AtomicU64, Ordering};

use offshoot_protocol::message::Message;
use offshoot_protocol::model::Price;
use offshoot_protocol::{Secret, ThinkingLevel};

use super::*;
use crate::provider::Hooks;

/// Random numbers of a seed.
struct Random(AtomicU64);

impl Random {
    fn below(&self, end: u64) -> u64 {
        let step = |state: u64| {
            let state = state ^ (state << 13);
            let state = state ^ (state >> 7);
            state ^ (state << 17)
        };
        let state = step(self.0.load(Ordering::Relaxed));
        self.0.store(state, Ordering::Relaxed);
        state.wrapping_mul(0x2545_F491_4F6C_DD1D) % end.max(1)
    }

    fn maybe<T>(&self, one_of: u64, value: T) -> Option<T> {
        (self.below(one_of) == 0).then_some(value)
    }
}

/// A server that counts up to what the margin allows, refuses, breaks off and says nothing about what was used.
struct BadCounter {
    random: Arc<Random>,
    tokens: u64,
}

impl Provider for BadCounter {
    fn stream(&self, request: Request) -> Deltas {
        let (random, estimate) = (Arc::clone(&self.random), self.tokens);
        let answering = async move {
            for _ in 0..random.below(4) {
                tokio::task::yield_now().await;
            }
            let mut message = request.model.blank_answer(0);
            let failure = |status| Failure {
                status,
                is_transient: true,
                is_overflow: false,
                is_about_pictures: false,
                retry_after: None,
                way_round: None,
            };
            let failure = match random.below(8) {
                0 => Some(failure(Some(429))),
                1 => Some(failure(None)),
                _ => None,
            };
            if failure.is_none() && random.below(8) > 0 {
                let input = random.below(estimate * 3 / 2 + 2_000 + 1);
                let is_kept = request.model.price.cache_write > 0.0;
                let cached = if is_kept { random.below(input + 1) } else { 0 };
                let output = random.below(request.model.max_tokens + 1);
                let (input, cache_write) = (input - cached, cached);
                message.usage = Usage {
                    input,
                    cache_write,
                    cache_write_1h: random.below(cache_write + 1),
                    output,
                    ..Usage::default()
                };
                message.usage.cost = request.model.cost(&message.usage);
            }
            Delta::Done(Box::new(Answer { message, failure }))
        };
        Box::pin(answering.into_stream())
    }
}

fn request(random: &Random) -> Request {
    let price = |most: u64| random.below(most) as f64 / 10.0;
    let cache_write = if random.below(2) == 0 { 0.0 } else { price(200) };
    let price = Price { input: 0.1 + price(150), output: 0.1 + price(750), cache_read: 0.0, cache_write };
    let model = Model { price, max_tokens: 1 + random.below(64_000), ..Model::default() };
    Request {
        model: Arc::new(model),
        system: String::new(),
        messages: Vec::<Message>::new(),
        tools: Vec::new(),
        thinking: ThinkingLevel::Off,
        max_tokens: None,
        key: None::<Secret>,
        session_id: None,
        hooks: Hooks::default(),
    }
}

/// An agent that asks until a limit ends it; some of its answers are dropped half-way.
async fn agent(account: Spending, random: Arc<Random>) {
    for _ in 0..1 + random.below(8) {
        let (mut asked, tokens) = (request(&random), random.below(30_000));
        let hold = match account.reserve(&mut asked, tokens).await {
            Ok(hold) => hold,
            Err(why) => {
                let need = Need::of(&asked.model, tokens, asked.model.max_tokens);
                let alone = account.book().without_holds();
                assert!(matches!(alone.fit(account.account, &need), Fit::Never(_)), "{why}, and it would have fitted");
                return;
            }
        };
        if random.below(10) == 0 {
            continue;
        }
        let provider = BadCounter { random: Arc::clone(&random), tokens };
        let mut answer = hold.over(provider.stream(asked));
        if random.below(10) > 0 {
            while answer.next().await.is_some() {}
        }
        drop(answer);
        account.book().check();
    }
}

/// What is spent and reserved never passes a limit, and none is named that would not have been passed. `SPENDING_TREES` says how many trees.
#[test]
fn no_tree_of_agents_passes_a_limit() {
    let trees = std::env::var("SPENDING_TREES").ok().and_then(|trees| trees.parse().ok()).unwrap_or(100_u64);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut requests = 0;
    for seed in 1..=trees {
        let random = Arc::new(Random(AtomicU64::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15))));
        let cents = |random: &Random, most: u64| random.below(most) as f64 / 100.0;
        let limits = RunLimits {
            cost: Some(0.05 + cents(&random, 300)),
            tokens: random.maybe(3, random.below(400_000)),
            requests: random.maybe(4, random.below(30)),
            ..RunLimits::default()
        };
        let mut all = vec![Spending::new(limits)];
        for child in 0..random.below(12) {
            let above = all[usize::try_from(random.below(all.len() as u64)).unwrap()].clone();
            let limits = TaskLimits {
                usd: random.maybe(2, cents(&random, 150)),
                tokens: random.maybe(4, random.below(200_000)),
                requests: random.maybe(4, random.below(10)),
                seconds: None,
            };
            all.push(above.below(&format!("{child}"), limits, None));
        }
        runtime.block_on(async {
            let agents = all.iter().map(|account| agent(account.clone(), Arc::clone(&random)));
            futures_util::future::join_all(agents).await;
        });
        let book = all[0].book();
        book.check();
        assert!(book.is_free(), "seed {seed}: something is still reserved: {book:?}");
        requests += book.spent(0).requests;
    }
    assert!(requests > trees, "{requests} requests of {trees} trees");
}
