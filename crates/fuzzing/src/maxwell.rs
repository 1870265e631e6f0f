//! Files with Maxwell programs.

use xenoglot::Error;
use xenoglot::maxwell::{Options, lift, load};
use xenoglot_ir::verify;

/// Programs in any bytes are listed, and lifted to sound modules or refused.
pub fn maxwell_container(data: &[u8]) {
    let Ok(programs) = load(data) else { return };
    let start = data.as_ptr_range();
    for program in programs.iter().take(8) {
        let code = program.code.as_ptr_range();
        assert!(program.code.is_empty() || (start.start <= code.start && code.end <= start.end));
        match lift(program, &Options::default()) {
            Ok(lifted) => verify(&lifted.module).unwrap_or_else(|e| panic!("{}: {e}", program.name)),
            Err(Error::MaxwellLift(_)) => {}
            Err(e) => panic!("{}: {e}", program.name),
        }
    }
}
