//! Operations, one after the other in memory.

/// The end of a frame. The payload says what is shown; its meaning is the machine's.
pub const FRAME_END: u32 = 0;
/// The guest's processor wrote to memory: address, then bytes.
pub const MEMORY_WRITE: u32 = 1;
/// Numbers from here on are the machine's.
pub const FIRST_MACHINE_OP: u32 = 16;

/// Bytes before each payload: kind and length.
const HEAD: usize = 8;

/// Something that happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op<'a> {
    /// [`FRAME_END`], [`MEMORY_WRITE`], or the machine's.
    pub kind: u32,
    /// What else there is to say.
    pub payload: &'a [u8],
}

impl Op<'_> {
    /// The 32-bit word `n` of the payload.
    pub fn word(&self, n: usize) -> Option<u32> {
        let bytes = self.payload.get(n.checked_mul(4)?..)?.first_chunk()?;
        Some(u32::from_le_bytes(*bytes))
    }
}

/// Operations in the order they happen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stream {
    bytes: Vec<u8>,
}

impl Stream {
    /// Appends an operation whose payload is all of `parts`, together at most 4 GiB - 1.
    ///
    /// # Panics
    /// If they are more.
    pub fn push(&mut self, kind: u32, parts: &[&[u8]]) {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        let length = u32::try_from(length).expect("an operation of 4 GiB");
        self.bytes.extend_from_slice(&kind.to_le_bytes());
        self.bytes.extend_from_slice(&length.to_le_bytes());
        parts.iter().for_each(|part| self.bytes.extend_from_slice(part));
    }

    /// Appends an operation whose payload is words.
    pub fn push_words(&mut self, kind: u32, words: &[u32]) {
        self.bytes.extend_from_slice(&kind.to_le_bytes());
        self.bytes.extend_from_slice(&(4 * words.len() as u32).to_le_bytes());
        words.iter().for_each(|word| self.bytes.extend_from_slice(&word.to_le_bytes()));
    }

    /// All operations.
    pub fn iter(&self) -> impl Iterator<Item = Op<'_>> {
        let mut rest = self.bytes.as_slice();
        std::iter::from_fn(move || {
            let (op, after) = first(rest)?;
            rest = after;
            Some(op)
        })
    }

    /// Bytes of all operations.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether nothing happens.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Appends whole operations; otherwise the offset of the one that is not whole.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<(), usize> {
        let mut rest = bytes;
        while !rest.is_empty() {
            rest = first(rest).ok_or(bytes.len() - rest.len())?.1;
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// The operations in pieces of about `size` bytes, each of whole operations.
    pub(crate) fn pieces(&self, size: usize) -> impl Iterator<Item = &[u8]> {
        let mut rest = self.bytes.as_slice();
        std::iter::from_fn(move || {
            let mut end = 0;
            while end < size {
                let Some((op, _)) = first(rest.get(end..)?) else { break };
                end += HEAD + op.payload.len();
            }
            let (piece, after) = rest.split_at_checked(end)?;
            rest = after;
            (!piece.is_empty()).then_some(piece)
        })
    }
}

/// The first operation and what is after it.
fn first(bytes: &[u8]) -> Option<(Op<'_>, &[u8])> {
    let (head, rest) = bytes.split_first_chunk::<HEAD>()?;
    let [a, b, c, d, e, f, g, h] = *head;
    let length = u32::from_le_bytes([e, f, g, h]) as usize;
    let (payload, rest) = rest.split_at_checked(length)?;
    Some((Op { kind: u32::from_le_bytes([a, b, c, d]), payload }, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_whole_operations() {
        let mut stream = Stream::default();
        for n in 0..100u32 {
            stream.push(n, &[&vec![n as u8; n as usize]]);
        }
        let mut back = Stream::default();
        for piece in stream.pieces(64) {
            back.append(piece).expect("whole");
        }
        assert_eq!(back, stream);
        assert_eq!(stream.iter().count(), 100);
        assert_eq!(Stream::default().append(&[0; 9]), Ok(()).and(Err(8)));
    }
}
