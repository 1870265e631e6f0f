//! Plays the scene `shadow` and writes what it shows to `frame.png`.

mod common;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    common::show("shadow")
}
