//! Bytes of a state that an engine knows when it makes its code, or loads when it runs.

use xenoglot_raster::ops::Ops;

/// A byte.
#[derive(Clone, Copy, Debug)]
pub enum Setting<I> {
    /// Known.
    Known(u8),
    /// Loaded.
    Loaded(I),
}

/// Whether something holds.
#[derive(Clone, Copy, Debug)]
pub enum Fact<B> {
    /// Known.
    Known(bool),
    /// For some pixels, perhaps.
    Depends(B),
}

impl<I: Copy> Setting<I> {
    /// Whether any of these bits is set.
    #[inline(always)]
    pub fn has<O: Ops<Int = I>>(&self, o: &mut O, bits: u8) -> Fact<O::Bool> {
        match *self {
            Setting::Known(value) => Fact::Known(value & bits != 0),
            Setting::Loaded(value) => {
                let (masked, zero) = (o.and_with(value, bits.into()), o.int(0));
                let clear = o.equal(masked, zero);
                Fact::Depends(o.not(clear))
            }
        }
    }

    /// Whether these bits have this value.
    #[inline(always)]
    pub fn is<O: Ops<Int = I>>(&self, o: &mut O, bits: u8, wanted: u8) -> Fact<O::Bool> {
        match *self {
            Setting::Known(value) => Fact::Known(value & bits == wanted),
            Setting::Loaded(value) => {
                let (masked, wanted) = (o.and_with(value, bits.into()), o.int(wanted.into()));
                Fact::Depends(o.equal(masked, wanted))
            }
        }
    }

    /// Its value.
    #[inline(always)]
    pub fn value<O: Ops<Int = I>>(&self, o: &mut O) -> I {
        match *self {
            Setting::Known(value) => o.int(value.into()),
            Setting::Loaded(value) => value,
        }
    }
}

/// What `yes` makes where it holds, what `no` makes elsewhere; of what is known only one is made.
///
/// Either closure is called in one place only: as they are inlined and nested, twice would be exponential.
#[inline(always)]
pub fn choose<O: Ops, const N: usize>(
    o: &mut O,
    fact: Fact<O::Bool>,
    yes: impl FnOnce(&mut O) -> [O::Int; N],
    no: impl FnOnce(&mut O) -> [O::Int; N],
) -> [O::Int; N] {
    let otherwise = if matches!(fact, Fact::Known(true)) { [o.int(0); N] } else { no(o) };
    let holds = match fact {
        Fact::Known(false) => return otherwise,
        Fact::Known(true) => o.bool(true),
        Fact::Depends(holds) => holds,
    };
    o.when(holds, otherwise, yes)
}
