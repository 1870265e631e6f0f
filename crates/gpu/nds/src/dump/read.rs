//! Reading dumps.

use super::{
    BANKS, DumpError, FrameDump, KINDS, MAGIC, MAX_COMMAND_BYTES, Matrix, Problem, State, VERSION, params,
    png,
};
use crate::registers::Registers;

/// A place in a file.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    end: usize,
}

impl<'a> Reader<'a> {
    fn error<T>(&self, problem: Problem) -> Result<T, DumpError> {
        Err(DumpError { offset: self.at, problem })
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], DumpError> {
        let end = self.at.saturating_add(length);
        match self.bytes.get(self.at..end.min(self.end)) {
            Some(bytes) if bytes.len() == length => {
                self.at = end;
                Ok(bytes)
            }
            _ => self.error(Problem::Truncated(end - self.end)),
        }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], DumpError> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N)?);
        Ok(out)
    }

    fn byte(&mut self) -> Result<u8, DumpError> {
        self.array().map(|[byte]| byte)
    }

    fn half(&mut self) -> Result<u16, DumpError> {
        self.array().map(u16::from_le_bytes)
    }

    fn word(&mut self) -> Result<u32, DumpError> {
        self.array().map(u32::from_le_bytes)
    }

    fn words<const N: usize>(&mut self) -> Result<[u32; N], DumpError> {
        let mut out = [0; N];
        for word in &mut out {
            *word = self.word()?;
        }
        Ok(out)
    }

    fn matrices(&mut self) -> Result<Box<[Matrix; 32]>, DumpError> {
        let mut out = Box::new([[0; 16]; 32]);
        for matrix in &mut *out {
            *matrix = self.words()?;
        }
        Ok(out)
    }
}

/// The rendering registers, with DISP_1DOT_DEPTH behind them.
fn registers(reader: &mut Reader) -> Result<Registers, DumpError> {
    let mut registers = Registers { control: reader.half()?, ..Registers::default() };
    let mut halves = |reader: &mut Reader, addresses: std::ops::Range<u32>| -> Result<(), DumpError> {
        for address in addresses.step_by(2) {
            registers.write_half(address, reader.half()?);
        }
        Ok(())
    };
    halves(reader, 0x0400_0330..0x0400_0340)?;
    let alpha_test_ref = reader.byte()?;
    halves(reader, 0x0400_0350..0x0400_0358)?;
    halves(reader, 0x0400_0358..0x0400_035c)?;
    halves(reader, 0x0400_035c..0x0400_035e)?;
    halves(reader, 0x0400_0360..0x0400_03c0)?;
    registers.write_half(0x0400_0340, alpha_test_ref.into());
    registers.one_dot_depth = reader.half()? & 0x7fff;
    Ok(registers)
}

fn state(reader: &mut Reader) -> Result<State, DumpError> {
    Ok(State {
        attributes: reader.word()?,
        next_attributes: reader.word()?,
        color: reader.word()?,
        viewport: reader.word()?,
        projection_stack: reader.words()?,
        position_stack: reader.matrices()?,
        vector_stack: reader.matrices()?,
        texture_stack: reader.words()?,
        projection: reader.words()?,
        position: reader.words()?,
        vector: reader.words()?,
        texture_matrix: reader.words()?,
        mode: reader.word()?,
        primitive: reader.word()?,
        vertex: (reader.word()?, reader.half()?),
        texcoord: reader.word()?,
        texture: reader.word()?,
        palette: reader.word()?,
        diffuse_ambient: reader.word()?,
        specular_emission: reader.word()?,
        shininess: reader.words()?,
        light_vectors: reader.words()?,
        light_colors: reader.words()?,
        swap: reader.word()?,
    })
}

/// Whether a file may be a dump: what it begins with.
pub(super) fn is_dump(bytes: &[u8]) -> bool {
    png::find(bytes).is_ok_and(|range| bytes.get(range).is_some_and(|dump| dump.starts_with(&MAGIC)))
}

impl FrameDump {
    /// Whether a file is a dump, or a PNG with one in it, by its first bytes.
    pub fn detect(bytes: &[u8]) -> bool {
        is_dump(bytes)
    }

    /// Reads a file: a dump, or a PNG with one in it.
    ///
    /// # Errors
    /// If it is none, is damaged, or is of another version.
    pub fn from_bytes(bytes: &[u8]) -> Result<FrameDump, DumpError> {
        let range = png::find(bytes).map_err(|(offset, problem)| DumpError { offset, problem })?;
        let mut reader = Reader { bytes, at: range.start, end: range.end };
        if !is_dump(bytes) {
            return reader.error(Problem::Magic);
        }
        reader.take(MAGIC.len())?;
        match reader.half()? {
            VERSION => {}
            version => return reader.error(Problem::Version(version)),
        }
        match reader.byte()? {
            0 => {}
            compression => return reader.error(Problem::Compression(compression)),
        }
        let registers = registers(&mut reader)?;
        let state = state(&mut reader)?;
        let controls: [u8; BANKS] = reader.array()?;
        let mut banks = controls.map(|control| (control, Vec::new()));
        for ((control, contents), kind) in banks.iter_mut().zip(&KINDS) {
            if kind.is_three_d(*control) {
                *contents = reader.take(kind.bytes)?.to_vec();
            }
        }
        let (commands, given) = (reader.word()?, reader.word()?);
        let length = u64::from(commands) + 4 * u64::from(given);
        if length >= MAX_COMMAND_BYTES as u64 {
            return reader.error(Problem::Commands(length));
        }
        let first = reader.at;
        let commands = reader.take(commands as usize)?.to_vec();
        let mut wanted = 0;
        for (offset, &command) in (first..).zip(&commands) {
            match params(command) {
                Some(params) => wanted += params as u64,
                None => return Err(DumpError { offset, problem: Problem::Command(command) }),
            }
        }
        if wanted != u64::from(given) {
            return reader.error(Problem::Params { given, wanted });
        }
        let params = reader.take(4 * given as usize)?;
        let params = params.as_chunks::<4>().0.iter().map(|&bytes| u32::from_le_bytes(bytes)).collect();
        match reader.end - reader.at {
            0 => Ok(FrameDump { registers, state, banks, commands, params }),
            surplus => reader.error(Problem::Surplus(surplus)),
        }
    }
}
