//! How the tools of a server reach the model.

/// How a tool reaches the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exposure {
    /// Every request declares it.
    Direct,
    /// It is declared when `tool_search` has found it.
    Deferred,
    /// Not at all.
    Hidden,
}

/// So many tools of a server are declared without being searched.
const MOST_DIRECT: usize = 20;
/// So many bytes the declarations of a server have then at most.
const LARGEST_DIRECT: usize = 24 << 10;

impl Exposure {
    /// The word of a configuration. What pi reaches by scripts alone is searched here.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "direct" => Some(Self::Direct),
            "deferred" | "codemode" | "codemode-deferred" => Some(Self::Deferred),
            "hidden" => Some(Self::Hidden),
            _ => None,
        }
    }

    /// The word of a configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Deferred => "deferred",
            Self::Hidden => "hidden",
        }
    }

    /// That of a server whose configuration names none.
    pub(crate) fn usual(tools: usize, bytes: usize) -> Self {
        if tools <= MOST_DIRECT && bytes <= LARGEST_DIRECT { Self::Direct } else { Self::Deferred }
    }
}

/// The exposure of a tool by its own name, else by the first pattern that matches.
pub(crate) fn named(rules: &[(String, Exposure)], tool: &str) -> Option<Exposure> {
    let exact = rules.iter().find(|(name, _)| name == tool);
    let found = exact.or_else(|| rules.iter().find(|(name, _)| name.contains('*') && matches(name, tool)));
    found.map(|(_, exposure)| *exposure)
}

/// Each `*` stands for any characters.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = rest.get(at + part.len()..).unwrap_or_default();
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exact_name_comes_before_patterns_and_the_first_pattern_before_others() {
        use Exposure::{Deferred, Direct, Hidden};
        let rules = [("get_*", Deferred), ("*", Hidden), ("get_sum", Direct), ("g*m", Direct)];
        let rules: Vec<(String, Exposure)> = rules.iter().map(|(name, of)| ((*name).to_owned(), *of)).collect();
        for (tool, expected) in [("get_sum", Direct), ("get_all", Deferred), ("gum", Hidden), ("echo", Hidden)] {
            assert_eq!(named(&rules, tool), Some(expected), "{tool}");
        }
        assert_eq!(named(&rules[..1], "echo"), None);
        assert!(matches("a*b*c", "a1b2c") && !matches("a*b*c", "acb") && !matches("a*a", "a"));
    }

    #[test]
    fn the_words_of_pi_are_known() {
        assert_eq!(Exposure::parse("codemode"), Some(Exposure::Deferred));
        assert_eq!(Exposure::parse("x"), None);
        assert_eq!(Exposure::usual(20, 24 << 10), Exposure::Direct);
        assert_eq!(Exposure::usual(21, 1), Exposure::Deferred);
    }
}
