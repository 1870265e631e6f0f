//! Floats.

use super::form::Row;

pub(super) const ROWS: &[Row] = &[];
