//! What requests cost, by the published prices.

use crate::message::{Cost, Usage};
use crate::model::{Model, Price};

impl Model {
    /// What an answer with this usage costs; the price depends on the size of the context.
    pub fn cost(&self, usage: &Usage) -> Cost {
        let price = self.price_above(usage.input + usage.cache_read + usage.cache_write);
        let of = |tokens: u64, price: f64| price / 1_000_000.0 * tokens as f64;
        let input = of(usage.input, price.input);
        let output = of(usage.output, price.output);
        let cache_read = of(usage.cache_read, price.cache_read);
        // Anthropic, which alone reports such tokens, charges twice the price of input for what it keeps for an hour.
        let hour = usage.cache_write_1h.min(usage.cache_write);
        let cache_write = of(usage.cache_write - hour, price.cache_write) + of(hour, price.input * 2.0);
        Cost { input, output, cache_read, cache_write, total: input + output + cache_read + cache_write }
    }

    /// What a request of so many tokens costs, without its answer. New tokens are paid as written to the cache where the
    /// provider charges for that. `None` if the prices are not known.
    pub fn request_cost(&self, fresh: u64, cached: u64) -> Option<f64> {
        let price = self.price_above(fresh + cached);
        let (input, cache_write) = if price.cache_write > 0.0 { (0, fresh) } else { (fresh, 0) };
        let usage = Usage { input, cache_write, cache_read: cached, ..Usage::default() };
        (price.input > 0.0).then(|| self.cost(&usage).total)
    }

    fn price_above(&self, tokens: u64) -> Price {
        let tiers = self.tiers.iter().filter(|tier| tokens > tier.above);
        tiers.max_by_key(|tier| tier.above).map_or(self.price, |tier| tier.price)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::PriceTier;

    const PRICE: Price = Price { input: 2.0, output: 10.0, cache_read: 0.2, cache_write: 2.5 };

    #[test]
    fn a_large_context_pays_the_price_of_its_tier() {
        let dear = Price { input: 4.0, ..PRICE };
        let model = Model { price: PRICE, tiers: vec![PriceTier { above: 1000, price: dear }], ..Model::default() };
        let usage = |input| Usage { input, output: 100, cache_read: 500, ..Usage::default() };
        assert_eq!(model.cost(&usage(500)).input, 0.001);
        assert_eq!(model.cost(&usage(501)).input, 4.0 / 1_000_000.0 * 501.0);
        let all = model.cost(&usage(500));
        assert!((all.total - (0.001 + 0.001 + 0.0001)).abs() < 1e-12);
    }

    #[test]
    fn what_the_cache_keeps_for_an_hour_costs_twice_the_input() {
        let price = Price { input: 5.0, cache_write: 6.25, ..Price::default() };
        let usage = Usage { input: 1000, cache_write: 1000, cache_write_1h: 400, ..Usage::default() };
        let cost = Model { price, ..Model::default() }.cost(&usage);
        assert!((cost.input - 0.005).abs() < 1e-12 && (cost.cache_write - 0.00775).abs() < 1e-12, "{cost:?}");
    }

    #[test]
    fn new_tokens_are_paid_as_written_where_that_has_a_price() {
        let cost = |price, fresh, cached| Model { price, ..Model::default() }.request_cost(fresh, cached);
        assert_eq!(cost(PRICE, 1_000_000, 1_000_000), Some(2.7));
        assert_eq!(cost(Price { cache_write: 0.0, ..PRICE }, 1_000_000, 0), Some(2.0));
        assert_eq!(cost(Price::default(), 1_000_000, 0), None);
    }
}
