//! The settings: their table, what the user's and the project's file set, and the values in effect for every front end.
//!
//! Reads text, not files: the program passes the files' contents in and stores changes. Knows no terminal and no front
//! end.
//!
//! Modules are declared in reading order, and each uses only those above it.

pub mod nearest;
pub mod diagnostic;
mod comments;
mod value;
mod setting;
mod table;
mod of_pi;
mod of_omp;
mod layer;
mod peer_settings;
mod omp_settings;
mod edit;
mod effective;

pub use edit::{EditError, edit};
pub use effective::{
    ALLOW, ASK, DENY, DoubleEscape, ImageProtocol, NotificationKind, Notifications, PeerUse, ProjectTrust,
    SandboxSettings, Settings, StreamRuleSettings, WrittenPermissions, WrittenRule,
};
pub use layer::{Layer, Layers, PeerLayer, SettingOrigin, UnreadableSettings};
pub use of_pi::is_taken_from_pi;
pub use omp_settings::{OmpConfig, omp_settings};
pub use peer_settings::{PeerSettingUse, settings_of_pi};
pub use setting::{Scope, Section, Setting};
pub use table::{SETTINGS, find};
pub use value::{ModelTokens, SettingKind, Value};
