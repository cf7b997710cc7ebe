//! The front end: its state, its messages, its commands and its views.
//!
//! One loop ([`run::run`]) takes messages and lets [`update::update`] change the model. It runs the commands or hands
//! them to the surrounding program, and draws. Everything except the loop and the screen is pure.

pub mod text_cursor;
pub mod call_list;
pub mod overlay_place;
pub mod ask;
pub mod extension;
pub mod cmd;
pub mod attention;
pub mod live;
pub mod page;
pub mod children;
pub mod pager;
pub mod reader;
pub mod pictures;
pub mod msg;
pub mod model;
pub mod screen;
pub mod view;
pub mod update;
pub mod run;

#[cfg(test)]
mod tests;
