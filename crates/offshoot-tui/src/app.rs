//! The front end as a whole: what it holds, what happens to it, what it wants done, what it shows.
//!
//! One loop ([`run::run`]) takes messages, lets [`update::update`] change the model, does what the commands say or hands
//! them to the program around it, and draws. Everything but the loop and the screen is pure.

pub mod cmd;
pub mod live;
pub mod page;
pub mod pager;
pub mod pictures;
pub mod msg;
pub mod model;
pub mod screen;
pub mod view;
pub mod update;
pub mod run;

#[cfg(test)]
mod tests;
