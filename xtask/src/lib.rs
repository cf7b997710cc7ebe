//! What `xtask` and `xtask-bench` share. It knows no tool.

pub mod out;
pub mod env;
pub mod run;
pub mod cargo;
pub mod machine;
