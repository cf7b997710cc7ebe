//! Tokens and their cost, wherever a server puts them: the vectors of `usage.jsonl`, which pi 1.6.0 has answered
//! (conformance/usage.test.mjs).

use offshoot_agent::provider::Api;
use offshoot_protocol::message::Usage;
use offshoot_protocol::model::{Model, Price, PriceTier};
use serde::Deserialize;
use serde_json::Value;

use super::dialects::read_as;
use super::model;

const VECTORS: &str = include_str!("usage.jsonl");

#[derive(Deserialize)]
struct Vector {
    api: String,
    provider: String,
    cost: Rates,
    events: Vec<Value>,
    usage: Usage,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Rates {
    #[serde(default)]
    input_tokens_above: u64,
    input: f64,
    output: f64,
    cache_read: f64,
    cache_write: f64,
    #[serde(default)]
    tiers: Vec<Rates>,
}

impl Rates {
    fn price(&self) -> Price {
        let Self { input, output, cache_read, cache_write, .. } = *self;
        Price { input, output, cache_read, cache_write }
    }
}

#[test]
fn tokens_and_their_cost_are_pis() {
    for line in VECTORS.lines() {
        let vector: Vector = serde_json::from_str(line).unwrap();
        let tier = |tier: &Rates| PriceTier { above: tier.input_tokens_above, price: tier.price() };
        let priced = Model {
            provider: vector.provider,
            price: vector.cost.price(),
            tiers: vector.cost.tiers.iter().map(tier).collect(),
            ..model(Api::parse(&vector.api).unwrap(), "http://x")
        };
        let got = read_as(priced, &vector.events).message.usage;
        let expected = vector.usage;
        assert_eq!(Usage { cost: expected.cost, ..got }, expected, "{line}");
        let costs = |usage: Usage| {
            let cost = usage.cost;
            [cost.input, cost.output, cost.cache_read, cost.cache_write, cost.total]
        };
        let is_near = costs(got).into_iter().zip(costs(expected)).all(|(got, wanted)| (got - wanted).abs() < 1e-9);
        assert!(is_near, "{:?} in {line}", got.cost);
    }
}
