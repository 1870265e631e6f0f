//! Formats and layouts that only consoles have.

pub mod ds;
pub mod latte;
pub mod pica;
pub mod tegra;
