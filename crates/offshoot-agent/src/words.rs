//! Formats foreign errors.

/// An error and its causes on one line.
pub(crate) fn in_words(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        next = cause.source();
    }
    text
}

/// The innermost cause of an error, without the system's number: the layers above it name only who passed it on.
pub(crate) fn innermost(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let text = causes.last().unwrap_or(error).to_string();
    text.split(" (os error ").next().unwrap_or_default().to_owned()
}
