//! The accounts of a root agent and of all that it has started: what each may use, has used, and has reserved for requests on their
//! way. What is spent and reserved counts for the account and for all above it. Sends nothing and waits for nothing.

use offshoot_protocol::message::Usage;
use offshoot_protocol::model::Model;

use crate::tool::TaskLimits;

/// The provider may count so much more input than offshoot estimates: half of it, and [`MARGIN_TOKENS`].
const MARGIN_TENTHS: u64 = 15;
/// See [`MARGIN_TENTHS`].
const MARGIN_TOKENS: u64 = 2_000;
/// The output limit of a request is not lowered further.
pub(crate) const LEAST_OUTPUT: u64 = 4_096;
/// What sums of floating point may be off.
const DUST: f64 = 1e-9;

/// A request that is about to be sent, at its dearest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Need {
    /// With the margin.
    pub(crate) input: u64,
    pub(crate) output: u64,
    /// US dollars of a token; `None` if they are not known.
    prices: Option<(f64, f64)>,
}

/// What is reserved or spent.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Spent {
    pub usd: f64,
    pub tokens: u64,
    pub requests: u64,
    /// By kind of token.
    pub usage: Usage,
}

/// Whether a request may be sent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fit {
    /// With an answer of at most so many tokens; this much is then reserved.
    Now(u64, Spent),
    /// It may fit when others have ended.
    Later,
    /// It does not, whoever ends: the limit in a word and a number, and the rest of the sentence.
    Never(Reached),
}

/// A limit that a request does not fit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reached {
    /// As the call of a task names it: `usd 0.5`.
    pub(crate) limit: String,
    /// What is spent, as a clause.
    pub(crate) why: String,
    /// Whose limit it is.
    pub(crate) account: usize,
}

#[derive(Debug, Clone, PartialEq)]
struct Account {
    limits: TaskLimits,
    above: Option<usize>,
    spent: Spent,
    held: Spent,
}

/// All accounts; the first is the root's.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Book {
    accounts: Vec<Account>,
}

impl Need {
    pub(crate) fn of(model: &Model, tokens: u64, output: u64) -> Self {
        let input = tokens.saturating_mul(MARGIN_TENTHS) / 10 + MARGIN_TOKENS;
        let reached = model.tiers.iter().filter(|tier| input > tier.above).map(|tier| tier.price);
        let all = || std::iter::once(model.price).chain(reached.clone());
        let dearest =
            |of: fn(&offshoot_protocol::model::Price) -> f64| all().map(|price| of(&price)).fold(0.0, f64::max);
        // What a provider keeps for an hour costs twice the input.
        let kept = match model.price.cache_write > 0.0 {
            true => dearest(|price| price.cache_write.max(price.input * 2.0)),
            false => dearest(|price| price.input),
        };
        let output_price = dearest(|price| price.output);
        let is_known = kept > 0.0 || output_price > 0.0;
        Self { input, output, prices: is_known.then_some((kept / 1e6, output_price / 1e6)) }
    }
}

impl Need {
    /// Whether the request's price can be told.
    pub(crate) fn has_prices(&self) -> bool {
        self.prices.is_some()
    }
}

impl Spent {
    pub(crate) fn add(&mut self, other: &Self) {
        self.usd += other.usd;
        self.tokens += other.tokens;
        self.requests += other.requests;
        let (sum, more) = (&mut self.usage, &other.usage);
        sum.input += more.input;
        sum.output += more.output;
        sum.cache_read += more.cache_read;
        sum.cache_write += more.cache_write;
        sum.cache_write_1h += more.cache_write_1h;
        sum.total_tokens += more.total_tokens;
        sum.cost.input += more.cost.input;
        sum.cost.output += more.cost.output;
        sum.cost.cache_read += more.cost.cache_read;
        sum.cost.cache_write += more.cost.cache_write;
        sum.cost.total += more.cost.total;
    }

    fn take(&mut self, other: &Self) {
        self.usd = (self.usd - other.usd).max(0.0);
        self.tokens = self.tokens.saturating_sub(other.tokens);
        self.requests = self.requests.saturating_sub(other.requests);
    }

    /// What an answer with this usage has used.
    pub(crate) fn of(usage: &Usage) -> Self {
        let sum = usage.input + usage.output + usage.cache_read + usage.cache_write;
        Self { usd: usage.cost.total, tokens: sum.max(usage.total_tokens), requests: 1, usage: *usage }
    }
}

impl Book {
    pub(crate) fn new(limits: TaskLimits) -> Self {
        Self { accounts: vec![Account { limits, above: None, spent: Spent::default(), held: Spent::default() }] }
    }

    /// Opens an account below another one, which has spent something before.
    pub(crate) fn open(&mut self, above: usize, limits: TaskLimits) -> usize {
        self.accounts.push(Account { limits, above: Some(above), spent: Spent::default(), held: Spent::default() });
        self.accounts.len() - 1
    }

    fn chain(&self, account: usize) -> impl Iterator<Item = (usize, &Account)> {
        let at = |index: usize| self.accounts.get(index).map(|account| (index, account));
        std::iter::successors(at(account), move |(_, account)| at(account.above?))
    }

    /// Adds to an account and all above it.
    fn change(&mut self, account: usize, change: impl Fn(&mut Account)) {
        let chain: Vec<usize> = self.chain(account).map(|(index, _)| index).collect();
        for index in chain {
            if let Some(account) = self.accounts.get_mut(index) {
                change(account);
            }
        }
    }

    pub(crate) fn spent(&self, account: usize) -> Spent {
        self.accounts.get(account).map(|account| account.spent).unwrap_or_default()
    }

    /// Whether the chain has a limit.
    pub(crate) fn has_limits(&self, account: usize) -> bool {
        self.chain(account).any(|(_, account)| account.limits != TaskLimits::default())
    }

    /// Whether a limit of the chain is in dollars.
    pub(crate) fn counts_dollars(&self, account: usize) -> bool {
        self.chain(account).any(|(_, account)| account.limits.usd.is_some())
    }

    /// The largest part of a limit of the account's own that is spent.
    pub(crate) fn part_spent(&self, account: usize) -> f64 {
        let Some(Account { limits, spent, .. }) = self.accounts.get(account) else { return 0.0 };
        let part = |spent: f64, limit: f64| if limit > 0.0 { spent / limit } else { 1.0 };
        let usd = limits.usd.map(|limit| part(spent.usd, limit));
        let tokens = limits.tokens.map(|limit| part(spent.tokens as f64, limit as f64));
        let requests = limits.requests.map(|limit| part(spent.requests as f64, limit as f64));
        [usd, tokens, requests].into_iter().flatten().fold(0.0, f64::max)
    }

    /// Whether a request may be sent now.
    pub(crate) fn fit(&self, account: usize, need: &Need) -> Fit {
        match self.output_left(account, need, Held::Counts) {
            Ok(output) => {
                let usd = need.prices.map_or(0.0, |(input, price)| need.input as f64 * input + output as f64 * price);
                let tokens = need.input.saturating_add(output);
                Fit::Now(output, Spent { usd, tokens, requests: 1, usage: Usage::default() })
            }
            Err(reached) => match self.output_left(account, need, Held::IsFree) {
                Ok(_) => Fit::Later,
                Err(_) => Fit::Never(reached),
            },
        }
    }

    /// How long the answer may be.
    fn output_left(&self, account: usize, need: &Need, held: Held) -> Result<u64, Reached> {
        let least = need.output.min(LEAST_OUTPUT);
        let mut output = need.output;
        for (index, Account { limits, spent, held: on_their_way, .. }) in self.chain(account) {
            let on_their_way = if held == Held::Counts { *on_their_way } else { Spent::default() };
            let reached = |limit: String, why: String| Reached { limit, why, account: index };
            if let Some(limit) = limits.requests
                && spent.requests + on_their_way.requests >= limit
            {
                return Err(reached(format!("requests {limit}"), format!("{} requests were sent", spent.requests)));
            }
            if let Some(limit) = limits.tokens {
                let left = limit.saturating_sub(spent.tokens + on_their_way.tokens).saturating_sub(need.input);
                if left < least {
                    let why = format!(
                        "{} tokens are spent, and the next request may need {}",
                        spent.tokens,
                        need.input + least
                    );
                    return Err(reached(format!("tokens {limit}"), why));
                }
                output = output.min(left);
            }
            if let (Some(limit), Some((input, price))) = (limits.usd, need.prices) {
                let left = limit - spent.usd - on_their_way.usd - need.input as f64 * input + DUST;
                let most = if price > 0.0 {
                    (left / price).floor()
                } else if left >= 0.0 {
                    f64::MAX
                } else {
                    -1.0
                };
                if most < least as f64 {
                    let may_cost = need.input as f64 * input + least as f64 * price;
                    let why = format!("${:.4} are spent, and the next request may cost ${may_cost:.4}", spent.usd);
                    return Err(reached(format!("usd {limit}"), why));
                }
                output = output.min(most as u64);
            }
        }
        Ok(output)
    }

    pub(crate) fn hold(&mut self, account: usize, held: &Spent) {
        self.change(account, |account| account.held.add(held));
    }

    pub(crate) fn release(&mut self, account: usize, held: &Spent) {
        self.change(account, |account| account.held.take(held));
    }

    /// Adds to this account alone.
    pub(crate) fn credit(&mut self, account: usize, spent: &Spent) {
        if let Some(account) = self.accounts.get_mut(account) {
            account.spent.add(spent);
        }
    }

    pub(crate) fn spend(&mut self, account: usize, spent: &Spent) {
        self.change(account, |account| account.spent.add(spent));
    }
}

/// Whether what is reserved for others counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Held {
    Counts,
    IsFree,
}

#[cfg(test)]
impl Book {
    /// As it would be if nothing were on its way.
    pub(crate) fn without_holds(&self) -> Self {
        let free = |account: &Account| Account { held: Spent::default(), ..account.clone() };
        Self { accounts: self.accounts.iter().map(free).collect() }
    }

    /// Whether nothing is on its way.
    pub(crate) fn is_free(&self) -> bool {
        self.accounts.iter().all(|Account { held, .. }| held.usd < 1e-6 && held.tokens == 0 && held.requests == 0)
    }

    /// What is spent and reserved keeps each limit.
    pub(crate) fn check(&self) {
        for Account { limits, spent, held, .. } in &self.accounts {
            assert!(
                limits.usd.is_none_or(|limit| spent.usd + held.usd <= limit + 1e-6),
                "{limits:?} {spent:?} {held:?}"
            );
            assert!(
                limits.tokens.is_none_or(|limit| spent.tokens + held.tokens <= limit),
                "{limits:?} {spent:?} {held:?}"
            );
            assert!(
                limits.requests.is_none_or(|limit| spent.requests + held.requests <= limit),
                "{limits:?} {spent:?}"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offshoot_protocol::model::Price;

    fn need(output: u64, dollars: f64) -> Need {
        Need { input: 0, output, prices: Some((0.0, dollars / output as f64)) }
    }

    fn usd(usd: f64) -> Spent {
        Spent { usd, requests: 1, ..Spent::default() }
    }

    fn limit(usd: Option<f64>) -> TaskLimits {
        TaskLimits { usd, ..TaskLimits::default() }
    }

    /// Root 1.00, of which 0.70 is spent; A may use 0.50 and has used 0.25; B has no limit of its own.
    #[test]
    fn a_request_that_does_not_fit_waits_while_others_hold_what_it_needs() {
        let mut book = Book::new(limit(Some(1.0)));
        let (a, b) = (book.open(0, limit(Some(0.5))), book.open(0, limit(None)));
        book.spend(a, &usd(0.25));
        book.spend(b, &usd(0.45));
        let Fit::Never(reached) = book.fit(a, &need(4000, 0.26)) else { panic!("A has 0.25 left") };
        assert_eq!((reached.limit.as_str(), reached.account), ("usd 0.5", a));
        let Fit::Now(4000, held) = book.fit(a, &need(4000, 0.20)) else { panic!("0.20 fit") };
        book.hold(a, &held);
        assert_eq!(book.fit(b, &need(4000, 0.15)), Fit::Later);
        book.release(a, &held);
        book.spend(a, &usd(0.05));
        assert!(matches!(book.fit(b, &need(4000, 0.15)), Fit::Now(4000, _)));
        assert!((book.spent(0).usd - 0.75).abs() < 1e-9 && book.spent(0).requests == 3);
        let Fit::Never(reached) = book.fit(b, &need(4000, 0.26)) else { panic!("0.25 are left") };
        assert_eq!((reached.limit.as_str(), reached.account), ("usd 1", 0));
    }

    #[test]
    fn the_output_limit_is_lowered_to_what_is_left_but_not_below_the_least() {
        let mut book = Book::new(limit(Some(1.0)));
        let Fit::Now(output, held) = book.fit(0, &need(100_000, 4.0)) else { panic!("a quarter fits") };
        assert_eq!((output, (held.usd - 1.0).abs() < 1e-9), (25_000, true));
        book.spend(0, &usd(0.9));
        assert!(matches!(book.fit(0, &need(100_000, 4.0)), Fit::Never(_)), "2,500 tokens are left");
        let tokens = Book::new(TaskLimits { tokens: Some(10_000), ..TaskLimits::default() });
        let need = |input| Need { input, output: 8_000, prices: None };
        assert!(matches!(tokens.fit(0, &need(4_000)), Fit::Now(6_000, Spent { tokens: 10_000, .. })));
        assert!(matches!(tokens.fit(0, &need(6_000)), Fit::Never(_)));
    }

    #[test]
    fn the_dearest_price_counts_with_the_margin() {
        let price = Price { input: 3.0, output: 15.0, cache_read: 0.3, cache_write: 3.75 };
        let model = Model { price, ..Model::default() };
        let need = Need::of(&model, 1_000, 100);
        assert_eq!((need.input, need.prices), (3_500, Some((6.0 / 1e6, 15.0 / 1e6))));
        assert_eq!(Need::of(&Model::default(), 1_000, 100).prices, None);
    }
}
