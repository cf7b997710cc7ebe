//! The name of a session on the command line: text, or a path of any bytes.

use clap::builder::{OsStringValueParser, TypedValueParser};
use offshoot_session::path_words::path_words;

/// Takes every argument; bytes that are not UTF-8 are kept as `offshoot_session::path_words` spells them.
pub fn session_words() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().map(|given| path_words(&given))
}
