//! Why a model cannot be asked.

/// Why there is no key. Names the places that were searched, never a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum KeyError {
    #[error("there is no key for {provider}; run `offshoot auth login {provider}`, or set {variables}")]
    None { provider: String, variables: String },
    /// A file names a variable that is not set.
    #[error("the {what} of {provider} is the variable {name}, which is not set")]
    Unset { what: String, provider: String, name: String },
    /// The address of the provider names an account or the like.
    #[error("the address of {provider} needs the variable {name}, which is not set")]
    Address { provider: String, name: String },
    /// A person signs in to the provider, and has not, or no longer is.
    #[error("you are not signed in to {provider}{why}; /login {provider} signs in")]
    SignIn { provider: String, why: String },
    /// An extension registered the provider, and has taken it away.
    #[error("there is no provider {provider} any more; /model chooses another model")]
    Gone { provider: String },
    /// AWS's files name credentials that cannot be used.
    #[error("there are no AWS credentials: {why}")]
    Aws { why: String },
    /// The command that prints the key failed.
    #[error("the command for the {what} of {provider} failed: {why}")]
    Command { what: String, provider: String, why: String },
}
