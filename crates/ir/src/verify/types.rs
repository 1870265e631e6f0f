//! Operands, results and flags of an instruction against its row in the op table.

use super::{Sink, fail};
use crate::entities::{Inst, Resource, Value};
use crate::flags::Flags;
use crate::func::{Function, InstData};
use crate::imm::{HitInfo, Imm, QueryInfo, Space};
use crate::module::{Count, ResourceKind};
use crate::op::{Class, OpInfo, Sig, Width};
use crate::ty::{Kind, Type};
use smallvec::SmallVec;

/// An instruction whose ids are known to be right.
pub(super) struct Site<'m> {
    pub(super) f: &'m Function,
    pub(super) data: &'m InstData,
    pub(super) info: &'static OpInfo,
    pub(super) values: &'m [Value],
    pub(super) args: SmallVec<[Type; 4]>,
    pub(super) results: SmallVec<[Type; 2]>,
}

type Types = SmallVec<[Type; 2]>;

fn class_name(class: Class) -> &'static str {
    match class {
        Class::Int => "an integer",
        Class::Float => "a float",
        Class::Single => "f32",
        Class::Bool => "a bool",
        Class::Bits => "an integer or bool",
        Class::Number => "a number or bool",
    }
}

/// Types of a few values, as nearly all lists are.
#[inline]
fn types<const N: usize>(f: &Function, values: &[Value]) -> SmallVec<[Type; N]>
where
    [Type; N]: smallvec::Array<Item = Type>,
{
    if values.len() > N {
        return values.iter().map(|&v| f.ty(v)).collect();
    }
    let mut few = [Type::I32; N];
    few.iter_mut().zip(values).for_each(|(ty, &v)| *ty = f.ty(v));
    SmallVec::from_buf_and_len(few, values.len())
}

impl<'m> Site<'m> {
    pub(super) fn new(f: &'m Function, inst: Inst) -> Site<'m> {
        let data = &f.insts[inst];
        let values = f.args(inst);
        let (args, results) = (types(f, values), types(f, f.results(inst)));
        Site { f, data, info: data.op.info(), values, args, results }
    }

    /// Reports what is wrong with the instruction.
    pub(super) fn check(&self, sink: &mut Sink<'m>) {
        let name = self.info.name;
        let flags = self.data.flags;
        if !flags.within(self.info.flags) {
            sink.report(format_args!("`{name}` does not take all of the flags `{flags}`"));
        }
        let settled =
            || flags.with_round(flags.round()).with_nan(flags.nan()).with_div_zero(flags.div_zero());
        if flags != Flags::NONE && flags != settled() {
            sink.report(format_args!("the flags have a mode that means nothing"));
        }
        if self.info.stages.is_some_and(|stages| !stages.contains(&sink.module.stage)) {
            sink.report(format_args!("`{name}` does not exist in stage {}", sink.module.stage.name()));
        }
        if self.data.imm.kind() != self.info.imm {
            let (is, takes) = (self.data.imm.kind().name(), self.info.imm.name());
            sink.report(format_args!("the immediate is of kind {is}, `{name}` takes {takes}"));
            return;
        }
        // What is wrong has been reported; the options only end a check early.
        if self.info.sig != Sig::Open && self.shape(sink).is_some() {
            let _ = self.imm(sink);
        }
    }

    /// Operands and results.
    fn shape(&self, sink: &mut Sink<'m>) -> Option<()> {
        match self.info.sig {
            Sig::Same(n, class) => {
                let t = self.uniform(sink, n, class)?;
                self.gives(sink, &[t])
            }
            Sig::Test(n, class) => {
                let t = self.uniform(sink, n, class)?;
                self.gives(sink, &[t.with_kind(Kind::Bool)])
            }
            Sig::CarryIn | Sig::CarryOut => {
                self.takes(sink, 3)?;
                let t = self.class(sink, 0, Class::Int)?;
                self.is(sink, 1, t)?;
                self.is(sink, 2, t.with_kind(Kind::Bool))?;
                let carry_out = self.info.sig == Sig::CarryOut;
                self.gives(sink, &[if carry_out { t.with_kind(Kind::Bool) } else { t }])
            }
            Sig::Convert(from, to, width) => {
                self.takes(sink, 1)?;
                let t = self.class(sink, 0, from)?;
                let r = self.one_result(sink)?;
                if !to.has(r.kind()) || r.lanes() != t.lanes() {
                    return fail!(
                        sink,
                        "the result is {r}, expected {} of {} lanes",
                        class_name(to),
                        t.lanes()
                    );
                }
                if width.allows(t.kind(), r.kind()) {
                    return Some(());
                }
                match width {
                    Width::Narrower => fail!(sink, "{r} is not narrower than {t}"),
                    Width::Wider => fail!(sink, "{r} is not wider than {t}"),
                    Width::Any | Width::Other => fail!(sink, "{r} is as wide as {t}"),
                }
            }
            Sig::Bitcast => {
                self.takes(sink, 1)?;
                let (t, r) = (self.args[0], self.one_result(sink)?);
                match (t.bytes(), r.bytes()) {
                    (Some(a), Some(b)) if a == b => Some(()),
                    (Some(a), Some(b)) => fail!(sink, "{t} has {a} bytes, {r} has {b}"),
                    _ => fail!(sink, "bools and handles have no bits to cast"),
                }
            }
            Sig::Select => {
                self.takes(sink, 3)?;
                let t = self.args[1];
                self.is(sink, 2, t)?;
                if self.args[0] != Type::BOOL {
                    self.is(sink, 0, t.with_kind(Kind::Bool))?;
                }
                self.gives(sink, &[t])
            }
            Sig::LoadExp => {
                self.takes(sink, 2)?;
                let t = self.class(sink, 0, Class::Float)?;
                self.is(sink, 1, t.with_kind(Kind::I32))?;
                self.gives(sink, &[t])
            }
            Sig::ExtractExp => {
                let t = self.uniform(sink, 1, Class::Float)?;
                self.gives(sink, &[t.with_kind(Kind::I32)])
            }
            Sig::Dot(n) => {
                let t = self.uniform(sink, 2, Class::Float)?;
                if t.lanes() != n {
                    return fail!(sink, "operand 1 is {t}, expected {n} lanes");
                }
                self.gives(sink, &[t.lane()])
            }
            Sig::Splat => {
                self.takes(sink, 1)?;
                let t = self.scalar(sink, 0, Class::Number)?;
                let r = self.one_result(sink)?;
                if r.lane() != t || r.is_scalar() {
                    return fail!(sink, "the result is {r}, expected a vector of {t}");
                }
                Some(())
            }
            Sig::Build => {
                if !(2..=4).contains(&self.args.len()) {
                    return fail!(sink, "expected 2 to 4 operands, found {}", self.args.len());
                }
                let t = self.scalar(sink, 0, Class::Number)?;
                (1..self.args.len()).try_for_each(|n| self.is(sink, n, t))?;
                let lanes = self.args.len() as u8;
                t.with_lanes(lanes).and_then(|t| self.gives(sink, &[t]))
            }
            Sig::Extract => {
                self.takes(sink, 1)?;
                let t = self.vector(sink, 0)?;
                self.gives(sink, &[t.lane()])
            }
            Sig::Insert => {
                self.takes(sink, 2)?;
                let t = self.vector(sink, 0)?;
                self.is(sink, 1, t.lane())?;
                self.gives(sink, &[t])
            }
            Sig::Shuffle => {
                self.takes(sink, 2)?;
                let t = self.vector(sink, 0)?;
                self.is(sink, 1, t)?;
                let Imm::Lanes(lanes) = self.data.imm else { return None };
                let r = t.with_lanes(lanes.as_slice().len() as u8)?;
                if r.is_scalar() {
                    return fail!(sink, "a shuffle gives two lanes at least; `extract` gives one");
                }
                self.gives(sink, &[r])
            }
            Sig::Leaf(result) => {
                self.takes(sink, 0)?;
                if let Some(result) = result {
                    return self.gives(sink, &[result]);
                }
                let r = self.one_result(sink)?;
                if r.kind().is_handle() { fail!(sink, "the result is {r}") } else { Some(()) }
            }
            Sig::SlotGet => {
                self.takes(sink, 0)?;
                self.gives(sink, &[self.imm_type(sink)?])
            }
            Sig::SlotSet => {
                self.takes(sink, 1)?;
                self.is(sink, 0, self.imm_type(sink)?)?;
                self.gives(sink, &[])
            }
            Sig::VarGet => {
                let arrays = self.arrays(sink);
                self.takes(sink, arrays.len())?;
                self.indices(sink, 0, &arrays)?;
                self.gives(sink, &[self.imm_type(sink)?])
            }
            Sig::VarSet => {
                let arrays = self.arrays(sink);
                self.takes(sink, 1 + arrays.len())?;
                self.is(sink, 0, self.imm_type(sink)?)?;
                self.indices(sink, 1, &arrays)?;
                self.gives(sink, &[])
            }
            Sig::Load => {
                self.accesses(sink, 1)?;
                let r = self.one_result(sink)?;
                if r.bytes().is_none() { fail!(sink, "{r} has no form in memory") } else { Some(()) }
            }
            Sig::Store => {
                self.accesses(sink, 2)?;
                if self.args[1].bytes().is_none() {
                    return fail!(sink, "{} has no form in memory", self.args[1]);
                }
                self.gives(sink, &[])
            }
            Sig::Atomic(class) => {
                self.accesses(sink, 2)?;
                let t = self.scalar(sink, 1, class)?;
                self.gives(sink, &[t])
            }
            Sig::AtomicCas => {
                self.accesses(sink, 3)?;
                let t = self.scalar(sink, 1, Class::Int)?;
                self.is(sink, 2, t)?;
                self.gives(sink, &[t])
            }
            Sig::FromLane => {
                self.takes(sink, 2)?;
                let t = self.class(sink, 0, Class::Number)?;
                self.is(sink, 1, Type::I32)?;
                self.gives(sink, &[t])
            }
            Sig::Size => self.size(sink),
            Sig::Call => self.call(sink),
            Sig::CallPure => {
                self.one_result(sink)?;
                self.call(sink)
            }
            Sig::Effect => {
                self.all(sink, &[])?;
                self.gives(sink, &[])
            }
            Sig::EffectIf => {
                self.takes(sink, 1)?;
                self.is(sink, 0, Type::BOOL)?;
                self.gives(sink, &[])
            }
            Sig::Fixed(args, result) => {
                self.all(sink, args)?;
                self.gives(sink, result.as_slice())
            }
            Sig::Query => {
                let Imm::Query(info) = self.data.imm else { return None };
                self.all(sink, &[])?;
                self.gives(sink, &[info.value.ty()])
            }
            Sig::Handle => self.handle(sink),
            Sig::Texture => self.texture(sink),
            Sig::Interpolate(args) => {
                self.all(sink, args)?;
                self.gives(sink, &[self.imm_type(sink)?])
            }
            Sig::Vote => {
                self.takes(sink, 1)?;
                let t = self.scalar(sink, 0, Class::Bool)?;
                self.gives(sink, &[t])
            }
            Sig::Ballot => {
                self.takes(sink, 1)?;
                let t = self.class(sink, 0, Class::Bool)?;
                match self.one_result(sink)? {
                    Type::I32 | Type::I64 | Type::I32X4 if t.is_scalar() => Some(()),
                    _ => fail!(sink, "a ballot is of one lane and gives i32, i64 or i32x4"),
                }
            }
            Sig::Open => Some(()),
        }
    }

    fn call(&self, sink: &mut Sink<'m>) -> Option<()> {
        let Imm::Func(callee) = self.data.imm else { return None };
        let callee = sink.module.funcs.get(callee)?;
        // A callee without a block, or with ids that do not exist, is reported where it stands.
        let params = callee.blocks.get(callee.entry()?)?.params.as_slice(&callee.pool);
        let params: Option<Types> = params.iter().map(|&v| callee.values.get(v).map(|d| d.ty)).collect();
        let params = params?;
        self.all(sink, &params)?;
        self.gives(sink, &callee.returns)
    }

    /// Checks the number of operands.
    pub(super) fn takes(&self, sink: &mut Sink<'m>, n: usize) -> Option<()> {
        let found = self.args.len();
        if found == n { Some(()) } else { fail!(sink, "expected {n} operands, found {found}") }
    }

    /// Checks that the operands are of these types; of arrays of ray queries and of hit objects, elements come behind them.
    fn all(&self, sink: &mut Sink<'m>, types: &[Type]) -> Option<()> {
        let elements = self.elements(sink);
        self.takes(sink, types.len() + elements)?;
        let elements = std::iter::repeat_n(&Type::I32, elements);
        types.iter().chain(elements).enumerate().try_for_each(|(n, &t)| self.is(sink, n, t))
    }

    /// How many arrays of ray queries and hit objects the instruction works on.
    fn elements(&self, sink: &Sink<'m>) -> usize {
        let resources = match self.data.imm {
            Imm::Resource(r) | Imm::Query(QueryInfo { query: r, .. }) => [Some(r), None],
            Imm::Hit(HitInfo { object, query, .. }) => [query.expand(), Some(object)],
            _ => [None; 2],
        };
        let is_array = |&r: &Resource| {
            let data = sink.module.resources.get(r);
            let counts = |kind| matches!(kind, ResourceKind::RayQuery | ResourceKind::HitObject);
            data.is_some_and(|data| counts(data.kind) && data.count != Count::One)
        };
        resources.iter().flatten().filter(|r| is_array(r)).count()
    }

    /// Checks the results.
    pub(super) fn gives(&self, sink: &mut Sink<'m>, types: &[Type]) -> Option<()> {
        match (types, &self.results[..]) {
            (expected, found) if expected == found => Some(()),
            ([expected], [found]) => fail!(sink, "the result is {found}, not {expected}"),
            (expected, found) => fail!(sink, "the results are {found:?}, not {expected:?}"),
        }
    }

    pub(super) fn one_result(&self, sink: &mut Sink<'m>) -> Option<Type> {
        match self.results[..] {
            [r] => Some(r),
            _ => fail!(sink, "expected one result, found {}", self.results.len()),
        }
    }

    /// Checks that operand `n`, which exists, is of type `t`.
    pub(super) fn is(&self, sink: &mut Sink<'m>, n: usize, t: Type) -> Option<()> {
        let found = self.args[n];
        if found == t { Some(()) } else { fail!(sink, "operand {} is {found}, not {t}", n + 1) }
    }

    fn class(&self, sink: &mut Sink<'m>, n: usize, class: Class) -> Option<Type> {
        let t = self.args[n];
        if class.has(t.kind()) {
            Some(t)
        } else {
            fail!(sink, "operand {} is {t}, expected {}", n + 1, class_name(class))
        }
    }

    fn scalar(&self, sink: &mut Sink<'m>, n: usize, class: Class) -> Option<Type> {
        let t = self.class(sink, n, class)?;
        if t.is_scalar() { Some(t) } else { fail!(sink, "operand {} is {t}, expected one lane", n + 1) }
    }

    fn vector(&self, sink: &mut Sink<'m>, n: usize) -> Option<Type> {
        let t = self.args[n];
        if t.is_scalar() { fail!(sink, "operand {} is {t}, expected a vector", n + 1) } else { Some(t) }
    }

    /// Checks for `n` operands of one type of the class.
    fn uniform(&self, sink: &mut Sink<'m>, n: u8, class: Class) -> Option<Type> {
        self.takes(sink, usize::from(n))?;
        let t = self.class(sink, 0, class)?;
        (1..usize::from(n)).try_for_each(|n| self.is(sink, n, t))?;
        Some(t)
    }

    /// The slot's or variable's type.
    fn imm_type(&self, sink: &Sink<'m>) -> Option<Type> {
        match self.data.imm {
            Imm::Slot(s) => self.f.slots.get(s).map(|s| s.ty),
            Imm::Var(v) => sink.module.vars.get(v).map(|v| v.ty),
            _ => None,
        }
    }

    /// Elements of the arrays around the variable's type, the outer one first.
    fn arrays(&self, sink: &Sink<'m>) -> SmallVec<[u32; 2]> {
        match self.data.imm {
            Imm::Var(v) => sink.module.vars.get(v).map(|v| v.array.into_iter().chain(v.inner).collect()),
            _ => None,
        }
        .unwrap_or_default()
    }

    /// Checks the indices, which are the operands from `n` on.
    fn indices(&self, sink: &mut Sink<'m>, n: usize, arrays: &[u32]) -> Option<()> {
        arrays.iter().enumerate().try_for_each(|(i, &elements)| {
            self.is(sink, n + i, Type::I32)?;
            match self.f.const_bits(self.values[n + i]).map(|b| b.lane(0)) {
                Some(i) if i >= u64::from(elements) => {
                    fail!(sink, "index {i} of an array of {elements} elements")
                }
                _ => Some(()),
            }
        })
    }

    /// Checks the number of operands of an access, its offset, and which element it goes to: the last operand, where the
    /// resource is an array.
    fn accesses(&self, sink: &mut Sink<'m>, n: usize) -> Option<()> {
        let Imm::Mem(mem) = self.data.imm else { return None };
        let array = mem.resource.expand().is_some_and(|r| sink.module.resources[r].count != Count::One);
        self.takes(sink, n + usize::from(array))?;
        self.offset(sink)?;
        if array { self.is(sink, n, Type::I32) } else { Some(()) }
    }

    /// The size of a buffer.
    fn size(&self, sink: &mut Sink<'m>) -> Option<()> {
        let Imm::Resource(r) = self.data.imm else { return None };
        let data = sink.module.resources.get(r)?;
        if !matches!(data.kind, ResourceKind::UniformBuffer { .. } | ResourceKind::StorageBuffer { .. }) {
            return fail!(sink, "`@{}` is no buffer", data.name);
        }
        let array = data.count != Count::One;
        self.takes(sink, usize::from(array))?;
        if array {
            self.is(sink, 0, Type::I32)?;
        }
        match self.one_result(sink)? {
            Type::I32 | Type::I64 => Some(()),
            r => fail!(sink, "the result is {r}, no size"),
        }
    }

    /// Checks the byte offset, operand 0.
    fn offset(&self, sink: &mut Sink<'m>) -> Option<()> {
        let Imm::Mem(mem) = self.data.imm else { return None };
        let t = self.args[0];
        let ok = match mem.space {
            Space::Global => t == Type::I64,
            Space::Guest => t == Type::I32 || t == Type::I64,
            _ => t == Type::I32,
        };
        if ok { Some(()) } else { fail!(sink, "operand 1 is {t}, no address in {}", mem.space.name()) }
    }

    /// The type of the value an access loads, stores or exchanges.
    pub(super) fn accessed(&self) -> Option<Type> {
        match self.info.sig {
            Sig::Load => self.results.first().copied(),
            _ => self.args.get(1).copied(),
        }
    }
}
