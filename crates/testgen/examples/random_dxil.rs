//! Writes the random shader of a seed as bitcode: `random_dxil SEED FILE`.

use std::error::Error;
use xenoglot_testgen::dxil::{Shader, bitcode};
use xenoglot_testgen::rng::Rng;

fn main() -> Result<(), Box<dyn Error>> {
    let [seed, file] =
        std::env::args().skip(1).collect::<Vec<_>>().try_into().map_err(|_| "random_dxil SEED FILE")?;
    let shader = Shader::random(&mut Rng::new(seed.parse()?));
    std::fs::write(file, bitcode(&shader))?;
    Ok(())
}
