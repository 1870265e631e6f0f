//! Executables of PICA200 shader binaries, for commands that show or set what their files say beside the code: registers by
//! their names, constants, the output map.

use crate::program::Select;
use anyhow::{Result, bail};
use std::rc::Rc;
use xenoglot::{Error, pica};
use xenoglot_pica_shader::container::{Dvle, Shbin};

/// An executable of a shader binary.
pub struct Executable {
    /// The binary.
    pub shbin: Rc<Shbin>,
    /// Byte offset of the binary in the input.
    pub offset: usize,
    /// Number of the executable in the binary.
    pub index: usize,
}

impl Executable {
    /// Its table entry.
    pub fn dvle(&self) -> Result<&Dvle> {
        let count = self.shbin.executables.len();
        let dvle = self.shbin.executables.get(self.index);
        Ok(dvle.ok_or(Error::NoExecutable { index: self.index, count })?)
    }
}

/// The shader binaries in an input that `select` chooses, with their byte offsets.
pub fn binaries(bytes: &[u8], select: &Select) -> Result<Vec<(usize, Rc<Shbin>)>> {
    let loaded = pica::load(bytes)?.into_iter();
    let out: Vec<_> = loaded
        .filter(|l| select.at.is_none_or(|at| at == l.offset))
        .map(|l| (l.offset, Rc::new(l.shbin)))
        .collect();
    match select.at {
        Some(at) if out.is_empty() => bail!("there is no shader binary at {at:#x}"),
        _ => Ok(out),
    }
}

/// The executables in an input that `select` chooses, at least one.
pub fn executables(bytes: &[u8], select: &Select) -> Result<Vec<Executable>> {
    let mut out = Vec::new();
    for (offset, shbin) in binaries(bytes, select)? {
        let count = shbin.executables.len();
        let wanted = match select.entry {
            Some(index) if index >= count => return Err(Error::NoExecutable { index, count }.into()),
            Some(index) => index..index + 1,
            None => 0..count,
        };
        out.extend(wanted.map(|index| Executable { shbin: Rc::clone(&shbin), offset, index }));
    }
    if out.is_empty() {
        bail!("there is no executable inside");
    }
    Ok(out)
}
