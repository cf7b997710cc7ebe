//! Formats foreign errors.

/// The innermost cause of an error, without the system's number: the layers above it name only who passed it on.
pub(crate) fn innermost(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let text = causes.last().unwrap_or(error).to_string();
    text.split(" (os error ").next().unwrap_or_default().to_owned()
}
