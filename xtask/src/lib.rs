//! What the house's tools share: printing, the environment, other programs, what cargo builds, the machine.
//!
//! Only `xtask` and `xtask-bench` use it. It knows no tool.

pub mod out;
pub mod env;
pub mod run;
pub mod cargo;
pub mod machine;
