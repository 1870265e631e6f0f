//! Plays the scene `mirror` and writes what it shows to `frame.png`.

mod common;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    common::show("mirror")
}
