//! An agent of the user's files: its arguments, its session, and its setup of models, keys, tools, prompt and settings.

mod args;
mod input;
mod attached;
mod open;
mod approval;
mod confine;
mod setup;
mod standing;
mod extensions;
mod tried_packages;
mod trust_event;
mod stops;

pub use approval::UserRules;
pub use args::{AgentOutput, Args, PrintForm, RpcVersion, RunSandbox};
pub use attached::{may_attach, with_pictures};
pub use confine::{switch_sandbox, why_sandbox};
pub use extensions::{AllPackages, check_extensions, check_loaded, check_model, extend, found};
pub use input::prompts;
pub use open::{enter_folder, open, set_name, shown_path};
pub use setup::{overhead, prompt_weight, server_confine, setup};
pub use standing::{NamedCall, StandingPermissions};
pub use stops::{Stop, Stops, is_ignored};
pub use tried_packages::{TriedPackages, with_tried_packages};
pub use trust_event::{TrustPerson, decided_by_extensions};
