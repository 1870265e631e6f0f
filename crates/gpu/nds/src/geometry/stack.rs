//! Current matrices, their stacks, and which of them a command means.

use super::matrix::Matrix;
use crate::state::{Io, StateError, Stated, stated};

/// Entries of the position and vector stacks; 31 are meant to be used.
const DEPTH: usize = 32;
/// The position stack pointer has 6 bits.
const POINTER_MASK: u32 = 63;
/// Highest pointer that is no error.
const LAST: u32 = 30;

/// MTX_MODE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MatrixMode {
    /// Projection.
    #[default]
    Projection,
    /// Position alone.
    Position,
    /// Position and vector at once.
    Both,
    /// Texture.
    Texture,
}

impl From<u32> for MatrixMode {
    fn from(param: u32) -> MatrixMode {
        match param & 3 {
            0 => MatrixMode::Projection,
            1 => MatrixMode::Position,
            2 => MatrixMode::Both,
            _ => MatrixMode::Texture,
        }
    }
}

/// A stack of one entry with a pointer of one bit.
#[derive(Clone, Debug, Default)]
pub(super) struct Single {
    pub(super) entry: Entry,
    pub(super) used: bool,
}

/// Stack memory starts as zero, not as identity.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry(pub(super) Matrix);

impl Default for Entry {
    fn default() -> Entry {
        Entry(Matrix::ZERO)
    }
}

impl Single {
    /// Whether the pointer was in range before.
    fn push(&mut self, matrix: Matrix) -> bool {
        self.entry.0 = matrix;
        let fits = !self.used;
        self.used = !self.used;
        fits
    }

    fn pop(&mut self) -> (Matrix, bool) {
        let fits = self.used;
        self.used = !self.used;
        (self.entry.0, fits)
    }
}

/// Current matrices and stacks.
#[derive(Clone, Debug)]
pub struct Matrices {
    /// MTX_MODE.
    pub mode: MatrixMode,
    /// Whether a stack pointer went out of its range; GXSTAT bit 15.
    pub error: bool,
    pub(super) projection: Matrix,
    pub(super) position: Matrix,
    pub(super) vector: Matrix,
    pub(super) texture: Matrix,
    pub(super) projection_stack: Single,
    pub(super) texture_stack: Single,
    pub(super) stack: Box<[(Entry, Entry); DEPTH]>,
    pub(super) pointer: u32,
    /// Position times projection, if they have not changed since.
    clip: Option<Matrix>,
}

impl Default for Matrices {
    fn default() -> Matrices {
        Matrices {
            mode: MatrixMode::Projection,
            error: false,
            projection: Matrix::IDENTITY,
            position: Matrix::IDENTITY,
            vector: Matrix::IDENTITY,
            texture: Matrix::IDENTITY,
            projection_stack: Single::default(),
            texture_stack: Single::default(),
            stack: Box::default(),
            pointer: 0,
            clip: None,
        }
    }
}

impl Matrices {
    /// Position stack level, 5 bits; GXSTAT bits 8 to 12.
    pub fn position_level(&self) -> u32 {
        self.pointer & 31
    }

    /// Projection stack level, 1 bit; GXSTAT bit 13.
    pub fn projection_level(&self) -> u32 {
        self.projection_stack.used.into()
    }

    /// Clears the error and the pointers of the projection and texture stacks.
    pub fn clear_error(&mut self) {
        self.error = false;
        self.projection_stack.used = false;
        self.texture_stack.used = false;
    }

    /// The directional matrix.
    #[inline]
    pub fn vector(&self) -> &Matrix {
        &self.vector
    }

    /// The texture matrix.
    #[inline]
    pub fn texture(&self) -> &Matrix {
        &self.texture
    }

    /// The clip matrix: position times projection.
    #[inline]
    pub fn clip(&mut self) -> &Matrix {
        let (projection, position) = (&self.projection, &self.position);
        self.clip.get_or_insert_with(|| {
            let mut clip = *projection;
            clip.multiply(position);
            clip
        })
    }

    /// Applies `change` to the current matrix, and in mode 2 to the vector matrix, too.
    pub fn change(&mut self, change: impl Fn(&mut Matrix)) {
        match self.mode {
            MatrixMode::Projection => change(&mut self.projection),
            MatrixMode::Position => change(&mut self.position),
            MatrixMode::Both => {
                change(&mut self.position);
                change(&mut self.vector);
            }
            MatrixMode::Texture => return change(&mut self.texture),
        }
        self.clip = None;
    }

    /// MTX_SCALE: never touches the vector matrix.
    pub fn scale(&mut self, factors: [i32; 3]) {
        match self.mode {
            MatrixMode::Projection => self.projection.scale(factors),
            MatrixMode::Position | MatrixMode::Both => self.position.scale(factors),
            MatrixMode::Texture => return self.texture.scale(factors),
        }
        self.clip = None;
    }

    fn slot(&mut self, at: u32) -> &mut (Entry, Entry) {
        self.error |= at > LAST;
        &mut self.stack[at as usize % DEPTH]
    }

    fn load(&mut self, at: u32) {
        let (position, vector) = *self.slot(at);
        (self.position, self.vector, self.clip) = (position.0, vector.0, None);
    }

    fn save(&mut self, at: u32) {
        let pair = (Entry(self.position), Entry(self.vector));
        *self.slot(at) = pair;
    }

    /// MTX_PUSH.
    pub fn push(&mut self) {
        match self.mode {
            MatrixMode::Projection => self.error |= !self.projection_stack.push(self.projection),
            MatrixMode::Texture => self.error |= !self.texture_stack.push(self.texture),
            MatrixMode::Position | MatrixMode::Both => {
                self.save(self.pointer);
                self.pointer = (self.pointer + 1) & POINTER_MASK;
            }
        }
    }

    /// MTX_POP by a signed number of 6 bits.
    pub fn pop(&mut self, param: u32) {
        match self.mode {
            MatrixMode::Projection => {
                let (matrix, fits) = self.projection_stack.pop();
                (self.projection, self.clip) = (matrix, None);
                self.error |= !fits;
            }
            MatrixMode::Texture => {
                let (matrix, fits) = self.texture_stack.pop();
                self.texture = matrix;
                self.error |= !fits;
            }
            MatrixMode::Position | MatrixMode::Both => {
                self.pointer = self.pointer.wrapping_sub(param) & POINTER_MASK;
                self.load(self.pointer);
            }
        }
    }

    /// MTX_STORE at an entry of 5 bits.
    pub fn store(&mut self, param: u32) {
        match self.mode {
            MatrixMode::Projection => self.projection_stack.entry = Entry(self.projection),
            MatrixMode::Texture => self.texture_stack.entry = Entry(self.texture),
            MatrixMode::Position | MatrixMode::Both => self.save(param & 31),
        }
    }

    /// MTX_RESTORE from an entry of 5 bits.
    pub fn restore(&mut self, param: u32) {
        match self.mode {
            MatrixMode::Projection => {
                (self.projection, self.clip) = (self.projection_stack.entry.0, None);
            }
            MatrixMode::Texture => self.texture = self.texture_stack.entry.0,
            MatrixMode::Position | MatrixMode::Both => self.load(param & 31),
        }
    }
}

impl Stated for MatrixMode {
    fn state(&mut self, io: &mut Io) -> Result<(), StateError> {
        io.number(self, |&mode| mode as u32, MatrixMode::from)
    }
}

impl Stated for Entry {
    fn state(&mut self, io: &mut Io) -> Result<(), StateError> {
        self.0.state(io)
    }
}

stated!(Single { entry, used });

impl Stated for Matrices {
    fn state(&mut self, io: &mut Io) -> Result<(), StateError> {
        let Matrices {
            mode,
            error,
            projection,
            position,
            vector,
            texture,
            projection_stack,
            texture_stack,
            stack,
            pointer,
            clip,
        } = self;
        mode.state(io)?;
        error.state(io)?;
        [projection, position, vector, texture].into_iter().try_for_each(|matrix| matrix.state(io))?;
        projection_stack.state(io)?;
        texture_stack.state(io)?;
        stack.state(io)?;
        pointer.state(io)?;
        *pointer &= POINTER_MASK;
        *clip = None;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::matrix::ONE;

    fn in_mode(mode: u32) -> Matrices {
        Matrices { mode: mode.into(), ..Matrices::default() }
    }

    #[test]
    fn scale_leaves_the_vector_matrix() {
        let mut m = in_mode(2);
        m.scale([2 * ONE; 3]);
        assert_eq!(*m.vector(), Matrix::IDENTITY);
        assert_eq!(m.clip().0[0], 2 * ONE);
        m.change(|m| m.translate([ONE; 3]));
        assert_eq!(m.vector().0[12], ONE);
    }

    #[test]
    fn pointer_has_six_bits_and_entry_31_works() {
        let mut m = in_mode(1);
        (0..31).for_each(|_| m.push());
        assert!(!m.error);
        m.change(|m| m.translate([ONE, 0, 0]));
        m.push();
        assert!(m.error);
        assert_eq!(m.position_level(), 0);
        m.error = false;
        m.change(|m| *m = Matrix::IDENTITY);
        m.pop(1);
        assert_eq!(m.clip().0[12], ONE);
        assert!(m.error);
        m.pop(31);
        assert_eq!(m.position_level(), 0);
        m.pop(1);
        assert_eq!(m.pointer, 63);
    }

    #[test]
    fn single_stacks_toggle() {
        let mut m = in_mode(0);
        m.push();
        assert!(!m.error);
        assert_eq!(m.projection_level(), 1);
        m.push();
        assert!(m.error);
        assert_eq!(m.projection_level(), 0);
    }

    #[test]
    fn stacks_start_as_zero() {
        let mut m = in_mode(1);
        m.restore(5);
        assert_eq!(m.clip().0, [0; 16]);
        assert!(!m.error);
    }
}
