//! Pixel rules as a program of the IR (feature `ir`).

use super::Ops;
use xenoglot_ir::module::{
    Access, Builtin, Count, Direction, Interpolation, OutOfBounds, ResourceData, ResourceKind, Semantic,
    VarData,
};
use xenoglot_ir::{Builder, Flags, MemInfo, Module, Op, Resource, Round, Space, Type, Value};

/// The program under construction: a function's cursor, and the module it will be in.
pub struct Emit<'f> {
    /// The cursor.
    pub b: Builder<'f>,
    /// The module, without the function.
    pub module: Module,
    memory: Option<(Resource, Value)>,
}

impl<'f> Emit<'f> {
    /// A program that begins at the cursor.
    pub fn new(b: Builder<'f>, module: Module) -> Emit<'f> {
        Emit { b, module, memory: None }
    }

    /// A storage buffer of words. Accesses stay in it: whoever makes the program sees to that.
    pub fn storage(&mut self, name: &str, binding: u32, access: Access) -> Resource {
        self.resource(name, binding, ResourceKind::StorageBuffer { access })
    }

    /// A uniform buffer of so many bytes.
    pub fn uniform(&mut self, name: &str, binding: u32, size: u32) -> Resource {
        self.resource(name, binding, ResourceKind::UniformBuffer { size })
    }

    fn resource(&mut self, name: &str, binding: u32, kind: ResourceKind) -> Resource {
        let (name, count, oob) = (name.into(), Count::One, OutOfBounds::Undefined);
        self.module.resources.push(ResourceData { name, kind, set: 0, binding, count, oob })
    }

    /// The guest's memory: words of two units each, the low one first, and the number of units less one.
    pub fn set_memory(&mut self, words: Resource, last: Value) {
        self.memory = Some((words, last));
    }

    /// A builtin input.
    pub fn builtin(&mut self, name: &str, builtin: Builtin, ty: Type) -> Value {
        let var = self.module.vars.push(VarData {
            name: name.into(),
            direction: Direction::Input,
            ty,
            semantic: Semantic::Builtin(builtin),
            interpolation: Interpolation::Smooth,
            array: None,
            inner: None,
            stream: 0,
        });
        self.b.input(var, ty)
    }

    /// A word of a buffer.
    pub fn word(&mut self, buffer: Resource, index: Value) -> Value {
        let at = self.shl_by(index, 2);
        self.b.load(MemInfo::plain(Space::Storage, Some(buffer), 2), at, Type::I32)
    }

    /// Word `offset` behind another.
    pub fn word_at(&mut self, buffer: Resource, base: Value, offset: u32) -> Value {
        let index = self.add_to(base, offset as i32);
        self.word(buffer, index)
    }

    /// A word of a uniform buffer.
    pub fn uniform_word(&mut self, buffer: Resource, index: u32) -> Value {
        let at = self.int(4 * index as i32);
        self.b.load(MemInfo::plain(Space::Uniform, Some(buffer), 2), at, Type::I32)
    }

    /// Replaces a word of a buffer.
    pub fn set_word(&mut self, buffer: Resource, index: Value, word: Value) {
        let at = self.shl_by(index, 2);
        self.b.store(MemInfo::plain(Space::Storage, Some(buffer), 2), at, word);
    }

    /// Runs `body` with 0, 1 and so on below `count`, handing on values from one run to the next.
    pub fn count<const N: usize>(
        &mut self,
        count: Value,
        start: [Value; N],
        body: impl FnOnce(&mut Self, Value, [Value; N]) -> [Value; N],
    ) -> [Value; N] {
        let zero = self.int(0);
        self.repeat(
            zero,
            start,
            |o, number| o.less(number, count),
            |o, number, values| {
                let values = body(o, number, values);
                (o.add_to(number, 1), values)
            },
        )
    }

    /// Runs `body` with the place of each one of a word, from the lowest up, handing on values from one run to the next.
    pub fn ones<const N: usize>(
        &mut self,
        word: Value,
        start: [Value; N],
        body: impl FnOnce(&mut Self, Value, [Value; N]) -> [Value; N],
    ) -> [Value; N] {
        self.repeat(
            word,
            start,
            |o, rest| {
                let zero = o.int(0);
                let done = o.equal(rest, zero);
                o.not(done)
            },
            |o, rest, values| {
                let place = o.b.op(Op::Ctz, &[rest]);
                let values = body(o, place, values);
                let less = o.add_to(rest, -1);
                (o.and(rest, less), values)
            },
        )
    }

    fn repeat<const N: usize>(
        &mut self,
        first: Value,
        start: [Value; N],
        holds: impl FnOnce(&mut Self, Value) -> Value,
        body: impl FnOnce(&mut Self, Value, [Value; N]) -> (Value, [Value; N]),
    ) -> [Value; N] {
        let [head, inside, behind] = [0; 3].map(|_| self.b.func.add_block());
        let state = self.b.func.add_param(head, Type::I32);
        let values = start.map(|value| {
            let ty = self.b.func.ty(value);
            self.b.func.add_param(head, ty)
        });
        let with = |first: Value, rest: [Value; N]| [&[first], rest.as_slice()].concat();
        self.b.jump(head, &with(first, start));
        self.b.switch_to(head);
        let goes_on = holds(self, state);
        self.b.branch(goes_on, (inside, &[]), (behind, &[]));
        self.b.switch_to(inside);
        let (next, made) = body(self, state, values);
        self.b.jump(head, &with(next, made));
        self.b.switch_to(behind);
        values
    }
}

macro_rules! ops {
    ($($name:ident $op:ident ($($arg:ident),+);)+) => {$(
        fn $name(&mut self, $($arg: Value),+) -> Value {
            self.b.op(Op::$op, &[$($arg),+])
        }
    )+};
}

impl Ops for Emit<'_> {
    type Int = Value;
    type Float = Value;
    type Bool = Value;

    ops! {
        add Iadd (a, b);
        sub Isub (a, b);
        mul Imul (a, b);
        and And (a, b);
        or Or (a, b);
        xor Xor (a, b);
        shl Shl (a, by);
        shr Ushr (a, by);
        sar Sshr (a, by);
        min Imin (a, b);
        max Imax (a, b);
        less IcmpSlt (a, b);
        equal IcmpEq (a, b);
        fadd Fadd (a, b);
        fsub Fsub (a, b);
        fmul Fmul (a, b);
        fabs Fabs (a);
        fless FcmpOlt (a, b);
        select Select (when, a, b);
        fselect Select (when, a, b);
        both And (a, b);
        either Or (a, b);
    }

    fn int(&mut self, value: i32) -> Value {
        self.b.i32(value as u32)
    }

    fn float(&mut self, value: f32) -> Value {
        self.b.f32(value)
    }

    fn bool(&mut self, value: bool) -> Value {
        self.b.bool(value)
    }

    fn not(&mut self, a: Value) -> Value {
        self.b.not(a)
    }

    fn to_float(&mut self, a: Value) -> Value {
        self.b.convert(Op::S2f, Flags::NONE, a, Type::F32)
    }

    fn round(&mut self, a: Value) -> Value {
        self.b.convert(Op::F2s, Flags::NONE.with_clamp().with_round(Round::Even), a, Type::I32)
    }

    fn bits(&mut self, a: Value) -> Value {
        self.b.convert(Op::Bitcast, Flags::NONE, a, Type::I32)
    }

    fn float_of_bits(&mut self, a: Value) -> Value {
        self.b.convert(Op::Bitcast, Flags::NONE, a, Type::F32)
    }

    fn fdiv(&mut self, a: Value, b: Value) -> Value {
        // Rounded once, whatever the host's quotients are.
        self.b.op_flags(Op::Fdiv, Flags::NONE.with_round(Round::Even), &[a, b])
    }

    fn load(&mut self, at: Value) -> Value {
        let Some((words, last)) = self.memory else { return self.int(0) };
        let at = self.and(at, last);
        let index = self.shr_by(at, 1);
        let word = self.word(words, index);
        let odd = self.and_with(at, 1);
        let shift = self.shl_by(odd, 4);
        let unit = self.shr(word, shift);
        self.and_with(unit, 0xffff)
    }

    fn when<const N: usize>(
        &mut self,
        holds: Value,
        otherwise: [Value; N],
        then: impl FnOnce(&mut Self) -> [Value; N],
    ) -> [Value; N] {
        let [inside, behind] = [0; 2].map(|_| self.b.func.add_block());
        let values = otherwise.map(|value| {
            let ty = self.b.func.ty(value);
            self.b.func.add_param(behind, ty)
        });
        self.b.branch(holds, (inside, &[]), (behind, &otherwise));
        self.b.switch_to(inside);
        let made = then(self);
        self.b.jump(behind, &made);
        self.b.switch_to(behind);
        values
    }
}
