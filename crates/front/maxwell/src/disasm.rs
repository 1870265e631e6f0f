//! The vendor's text.
