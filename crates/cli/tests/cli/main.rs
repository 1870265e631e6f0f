//! The program as its users run it.

mod commands;
mod common;
mod failures;
mod render;
