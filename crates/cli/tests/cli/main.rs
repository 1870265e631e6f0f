//! The program as its users run it.

mod codecs;
mod commands;
mod common;
mod dragon;
mod failures;
mod render;
