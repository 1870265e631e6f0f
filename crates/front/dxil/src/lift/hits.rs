//! Where hit objects of SM 6.9 are.
//!
//! In DXIL a hit object is a value: it is copied freely, and what changes one gives a new one. SPIR-V has variables of them
//! that can neither be loaded nor copied (`SPV_EXT_shader_invocation_reorder`). Objects that phis, selects and changes connect
//! are a web. Mostly no two of a web are alive at once: then the web is a variable, which each of its objects overwrites.
//!
//! Other webs, and those that pass between functions, share an array. There an object is the number of an element, which
//! phis and selects choose. It gets an element that none has which is alive behind the instruction that makes it; where phis
//! hide which those are, the number is computed.
//!
//! A change of an object is one of its variable, which needs every other value to be dead that may be the same object.

use super::cx::Cx;
use super::flow::{phis, successors};
use super::queries::called;
use super::val::Val;
use super::{Lift, LiftError, Stop};
use crate::bitcode::{BlockId, Body, Def, InstKind, Module, Type as Llvm, TypeId, ValueId};
use crate::ops::Op as Dx;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use xenoglot_ir::module::{Count, OutOfBounds, ResourceData, ResourceKind};
use xenoglot_ir::{Op, Resource, Value};

/// Elements of the array: their numbers have five bits.
const MOST: usize = 32;
/// Set in the number of an object that was made from a query and has no record of a table.
const UNBOUND: u32 = 1 << 8;
/// Bits of the sets of objects that are alive at the ends of a function's blocks.
const MOST_BITS: usize = 1 << 26;
/// Objects that are alive at once, those in variables of their own included.
const MOST_ALIVE: usize = 64;

/// The hit objects of a shader.
pub(super) struct HitObjects {
    /// Whether the module has any.
    any: bool,
    /// The array, and how many elements it has.
    array: Option<(Resource, u32)>,
    /// Variables of their own.
    variables: u32,
    /// Of the function at work.
    lives: Option<Lives>,
    /// Numbers of elements of the array that are alive in the functions that it is called from.
    outer: Vec<Value>,
    /// Whether some objects are made from queries.
    from_queries: bool,
}

impl HitObjects {
    pub fn new(module: &Module) -> HitObjects {
        let calls = |name: &[u8]| module.functions.iter().any(|f| f.name.starts_with(name));
        HitObjects {
            any: calls(b"dx.op.hitObject_"),
            array: None,
            variables: 0,
            lives: None,
            outer: Vec::new(),
            from_queries: calls(b"dx.op.hitObject_FromRayQuery"),
        }
    }
}

/// A hit object that an operation works on.
#[derive(Clone, Copy)]
pub(super) struct HitObject {
    /// Its variable, or the array that it is in.
    pub resource: Resource,
    /// Its place in the array.
    pub element: Option<Value>,
    /// Its place, and whether it has no record.
    number: Value,
}

impl HitObject {
    /// The operands of an op on the object.
    pub fn operands(&self, of_op: &[Value]) -> SmallVec<[Value; 12]> {
        of_op.iter().copied().chain(self.element).collect()
    }
}

/// Where the objects of a web are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Home {
    /// In a variable, which is there once one of them was met.
    Variable(Option<Resource>),
    /// In the array.
    Array,
}

/// The hit objects among a function's values.
pub(super) struct Lives {
    /// In order.
    ids: Vec<ValueId>,
    /// The web of each: the number of one of its objects.
    webs: Vec<u32>,
    /// Where webs are, by their numbers.
    homes: Vec<Home>,
    /// Whether the function was given one of a web, by the web's number.
    given: Vec<bool>,
    /// Those alive behind each instruction that calls something, without what it gives.
    behind: FxHashMap<u32, SmallVec<[u32; 4]>>,
}

impl Lives {
    fn web(&self, id: ValueId) -> Option<u32> {
        self.ids.binary_search(&id).ok().and_then(|n| self.webs.get(n)).copied()
    }

    fn behind(&self, at: u32) -> impl Iterator<Item = ValueId> {
        let alive = self.behind.get(&at).map_or(&[][..], |alive| alive);
        alive.iter().filter_map(|&n| self.ids.get(n as usize).copied())
    }

    fn home(&mut self, web: u32) -> Option<&mut Home> {
        self.homes.get_mut(web as usize)
    }
}

/// Why nothing is done to an undefined object.
const UNKNOWN: Stop = Stop::Unsupported("a hit object of unknown origin");

pub(super) fn is_hit_object(module: &Module, ty: TypeId) -> bool {
    matches!(module.types.get(ty), Some(Llvm::Struct { name: Some(name), .. }) if name == "dx.types.HitObject")
}

impl Cx<'_> {
    /// The object that the instruction at work makes.
    pub(super) fn new_hit(&mut self, result: Option<ValueId>) -> Lift<HitObject> {
        let result = result.ok_or(UNKNOWN)?;
        if let Some(resource) = self.hit_variable(result)? {
            return Ok(HitObject { resource, element: None, number: self.i32(0) });
        }
        let alive = self.alive_hits()?;
        if alive.len() >= MOST {
            return Err(Stop::Unsupported("more hit objects at once than an array of them has"));
        }
        let count = alive.len() as u32 + 1;
        let before = self.hits.array.map_or(0, |(_, count)| count);
        let resource = self.hit_array();
        self.ir.resources[resource].count = Count::Fixed(count.max(before));
        self.hits.array = Some((resource, count.max(before)));
        let element = self.free_place(&alive);
        Ok(HitObject { resource, element: Some(element), number: element })
    }

    fn hit_resource(&mut self, name: String, count: Count) -> Resource {
        self.ir.resources.push(ResourceData {
            name,
            kind: ResourceKind::HitObject,
            set: 0,
            binding: 0,
            count,
            oob: OutOfBounds::Undefined,
        })
    }

    fn hit_array(&mut self) -> Resource {
        match self.hits.array {
            Some((array, _)) => array,
            None => {
                let array = self.hit_resource("hits".into(), Count::Fixed(1));
                self.hits.array = Some((array, 1));
                array
            }
        }
    }

    /// The variable of an object; none if it is in the array.
    fn hit_variable(&mut self, id: ValueId) -> Lift<Option<Resource>> {
        let lives = self.lives()?;
        let web = lives.web(id).ok_or(UNKNOWN)?;
        match lives.home(web).copied() {
            Some(Home::Variable(Some(resource))) => Ok(Some(resource)),
            Some(Home::Variable(None)) => {
                let resource = self.hit_resource(format!("hit{}", self.hits.variables), Count::One);
                self.hits.variables += 1;
                if let Some(home) = self.lives()?.home(web) {
                    *home = Home::Variable(Some(resource));
                }
                Ok(Some(resource))
            }
            Some(Home::Array) => Ok(None),
            None => Err(UNKNOWN),
        }
    }

    /// The lowest place that no object of these numbers has.
    fn free_place(&mut self, alive: &[Value]) -> Value {
        let one = self.i32(1);
        let mut taken = self.i32(0);
        for &number in alive {
            let element = self.element(number);
            let bit = match self.known_place(element) {
                Some(place) => self.i32(1 << (place % MOST as u32)),
                None => self.op(Op::Shl, &[one, element]),
            };
            taken = match [taken, bit].map(|v| self.known_place(v)) {
                [Some(a), Some(b)] => self.i32(a | b),
                _ => self.op(Op::Or, &[taken, bit]),
            };
        }
        match self.known_place(taken) {
            Some(taken) => self.i32(taken.trailing_ones()),
            None => {
                let free = self.op(Op::Not, &[taken]);
                self.op(Op::Ctz, &[free])
            }
        }
    }

    fn known_place(&self, v: Value) -> Option<u32> {
        self.b.func.const_bits(v).map(|bits| bits.lane(0) as u32)
    }

    /// The place in a number.
    fn element(&mut self, number: Value) -> Value {
        let mask = MOST as u32 - 1;
        match self.known_place(number) {
            Some(number) => self.i32(number & mask),
            None if self.hits.from_queries => {
                let mask = self.i32(mask);
                self.op(Op::And, &[number, mask])
            }
            None => number,
        }
    }

    /// The object that an operand is.
    pub(super) fn hit(&mut self, id: ValueId) -> Lift<HitObject> {
        let (variable, number) = (self.hit_variable(id)?, self.scalar(id)?);
        Ok(match variable {
            Some(resource) => HitObject { resource, element: None, number },
            None => HitObject { resource: self.hit_array(), element: Some(self.element(number)), number },
        })
    }

    /// The value of an object that an operation gives.
    pub(super) fn hit_value(&mut self, hit: HitObject, has_record: bool) -> Value {
        let place = hit.element.unwrap_or_else(|| self.i32(0));
        match (has_record, self.known_place(place)) {
            (true, _) => place,
            (false, Some(place)) => self.i32(place | UNBOUND),
            (false, None) => {
                let unbound = self.i32(UNBOUND);
                self.op(Op::Or, &[place, unbound])
            }
        }
    }

    /// Whether an object has a record, if it is no nop; `None` where all have.
    pub(super) fn has_record(&mut self, hit: HitObject) -> Option<Value> {
        if !self.hits.from_queries {
            return None;
        }
        let (unbound, zero) = (self.i32(UNBOUND), self.i32(0));
        let unbound = self.op(Op::And, &[hit.number, unbound]);
        Some(self.op(Op::IcmpEq, &[unbound, zero]))
    }

    /// Fails if the operand's object may be looked at after the instruction at work, which changes it.
    pub(super) fn changes_hit(&mut self, operand: ValueId, result: Option<ValueId>) -> Lift<()> {
        let at = self.at;
        let lives = self.lives()?;
        let web = lives.web(operand).ok_or(UNKNOWN)?;
        let is_given = lives.given.get(web as usize) == Some(&true);
        match is_given || lives.behind(at).any(|id| lives.web(id) == Some(web) && Some(id) != result) {
            true => Err(Stop::Unsupported("a hit object that is used as it was before its change")),
            false => Ok(()),
        }
    }

    /// Numbers of the objects in the array that are alive behind the instruction at work, in functions around it, too.
    fn alive_hits(&mut self) -> Lift<Vec<Value>> {
        let at = self.at;
        let lives = self.lives()?;
        let in_array = |id: &ValueId| {
            let home = lives.web(*id).and_then(|web| lives.homes.get(web as usize));
            home == Some(&Home::Array)
        };
        let ids: Vec<ValueId> = lives.behind(at).filter(in_array).collect();
        let mut numbers = self.hits.outer.clone();
        for id in ids {
            if !matches!(self.value(id)?, Val::Undef) {
                numbers.push(self.scalar(id)?);
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        Ok(numbers)
    }

    fn lives(&mut self) -> Lift<&mut Lives> {
        if self.hits.lives.is_none() {
            self.hits.lives = Some(Lives::new(self.module, self.body)?);
        }
        self.hits.lives.as_mut().ok_or(LiftError::Memory.into())
    }

    /// Works on a function that the instruction at work calls, whose objects get other places than those alive here.
    pub(super) fn beside_hits<T>(&mut self, f: impl FnOnce(&mut Self) -> Lift<T>) -> Lift<T> {
        if !self.hits.any {
            return f(self);
        }
        let outer = self.alive_hits()?;
        let outer = std::mem::replace(&mut self.hits.outer, outer);
        let lives = self.hits.lives.take();
        let made = f(self);
        (self.hits.outer, self.hits.lives) = (outer, lives);
        made
    }
}

impl Lives {
    fn new(module: &Module, body: &Body) -> Lift<Lives> {
        let base = module.values.len() as u32;
        let ids: Vec<ValueId> = (base..)
            .zip(&body.values)
            .filter(|(_, value)| is_hit_object(module, value.ty))
            .map(|(id, _)| ValueId(id))
            .collect();
        let words = ids.len().div_ceil(64);
        if words * 64 * body.blocks.len() > MOST_BITS {
            return Err(LiftError::Memory.into());
        }
        let webs = webs(module, body, &ids);
        let mut homes = homes(module, body, &ids, &webs);
        let mut sets = Sets { ids: &ids, words, out: vec![0; words * body.blocks.len()] };
        sets.fill(module, body);
        let mut behind = FxHashMap::default();
        let mut most = 0;
        for block in 0..body.blocks.len() as u32 {
            sets.scan(body, BlockId(block), &mut |Point { calls, made, alive }| {
                most = most.max(alive.len());
                if most > MOST_ALIVE {
                    return false;
                }
                let web = |n: u32| webs.get(n as usize);
                if let Some(made) = made
                    && alive.iter().any(|&n| web(n) == web(made))
                    && let Some(home) = web(made).and_then(|&web| homes.get_mut(web as usize))
                {
                    *home = Home::Array;
                }
                if let Some(at) = calls {
                    behind.insert(at, alive.iter().copied().collect());
                }
                true
            });
            if most > MOST_ALIVE {
                return Err(Stop::Unsupported("very many hit objects at once"));
            }
        }
        let mut given = vec![false; ids.len()];
        for (_, &web) in ids.iter().zip(&webs).filter(|&(&id, _)| is_argument(module, body, id)) {
            given.get_mut(web as usize).into_iter().for_each(|given| *given = true);
        }
        Ok(Lives { ids, webs, homes, given, behind })
    }
}

fn is_argument(module: &Module, body: &Body, id: ValueId) -> bool {
    matches!(module.value(Some(body), id).map(|v| &v.def), Some(Def::Argument(_)))
}

/// The values that an instruction uses, hit objects among them; those of phis are used at the ends of blocks.
fn operands(body: &Body, kind: &InstKind, f: &mut dyn FnMut(ValueId)) {
    match kind {
        InstKind::Call { args, .. } => body.list(*args).iter().filter_map(|a| a.value()).for_each(f),
        InstKind::Select([_, yes, no]) => [*yes, *no].into_iter().for_each(f),
        InstKind::Return(Some(value)) => f(*value),
        _ => {}
    }
}

/// What is alive behind an instruction.
struct Point<'a> {
    /// Its number, if it calls something.
    calls: Option<u32>,
    /// The object that it makes.
    made: Option<u32>,
    /// Others that are alive.
    alive: &'a [u32],
}

/// Which objects are alive where blocks end.
struct Sets<'a> {
    ids: &'a [ValueId],
    words: usize,
    out: Vec<u64>,
}

impl Sets<'_> {
    fn place(&self, id: ValueId) -> Option<usize> {
        self.ids.binary_search(&id).ok()
    }

    /// Notes that an object is alive at the end of a block; whether that is news.
    fn add(&mut self, block: BlockId, object: usize) -> bool {
        let word = self.out.get_mut(block.0 as usize * self.words + object / 64);
        word.is_some_and(|word| {
            let before = *word;
            *word |= 1 << (object % 64);
            *word != before
        })
    }

    fn fill(&mut self, module: &Module, body: &Body) {
        let count = body.blocks.len() as u32;
        let mut predecessors: Vec<Vec<BlockId>> = vec![Vec::new(); body.blocks.len()];
        let mut homes = vec![BlockId(0); self.ids.len()];
        // Blocks where objects are alive from the start, and those at whose end they are.
        let (mut enters, mut leaves) = (Vec::new(), Vec::new());
        for block in (0..count).map(BlockId) {
            let insts = body.block(block).1;
            for to in insts.last().into_iter().flat_map(|inst| successors(body, &inst.kind)) {
                predecessors.get_mut(to.0 as usize).into_iter().for_each(|p| p.push(block));
            }
            for inst in insts {
                if let Some(home) = inst.result.and_then(|id| self.place(id)).and_then(|n| homes.get_mut(n)) {
                    *home = block;
                }
                operands(body, &inst.kind, &mut |id| enters.extend(self.place(id).map(|n| (block, n))));
            }
            for (_, _, incoming) in phis(body, block) {
                leaves.extend(incoming.iter().filter_map(|&(id, from)| Some((from, self.place(id)?))));
            }
        }
        let arguments: Vec<bool> = self.ids.iter().map(|&id| is_argument(module, body, id)).collect();
        // Where an object is made, it is not alive from the start.
        let made_in =
            |block: BlockId, n: usize| homes.get(n) == Some(&block) && arguments.get(n) != Some(&true);
        for (block, n) in leaves {
            if self.add(block, n) && !made_in(block, n) {
                enters.push((block, n));
            }
        }
        enters.retain(|&(block, n)| !made_in(block, n));
        while let Some((block, n)) = enters.pop() {
            for &from in predecessors.get(block.0 as usize).map_or(&[][..], |p| p) {
                if self.add(from, n) && !made_in(from, n) {
                    enters.push((from, n));
                }
            }
        }
    }

    /// Tells of each instruction of a block that calls something or makes an object what is alive behind it, from the last one
    /// until `f` has had enough.
    fn scan(&self, body: &Body, block: BlockId, f: &mut dyn FnMut(Point<'_>) -> bool) {
        let (first, insts) = body.block(block);
        let mut alive: SmallVec<[u32; 8]> = (0..self.ids.len() as u32)
            .filter(|&n| {
                let word = self.out.get(block.0 as usize * self.words + n as usize / 64);
                word.is_some_and(|word| word >> (n % 64) & 1 != 0)
            })
            .collect();
        for (inst, at) in insts.iter().zip(first..first + insts.len() as u32).rev() {
            let made = inst.result.and_then(|id| self.place(id)).map(|n| n as u32);
            alive.retain(|n| Some(*n) != made);
            let calls = matches!(inst.kind, InstKind::Call { .. }).then_some(at);
            if !alive.is_empty()
                && (made.is_some() || calls.is_some())
                && !f(Point { calls, made, alive: &alive })
            {
                return;
            }
            operands(body, &inst.kind, &mut |id| {
                if let Some(n) = self.place(id).map(|n| n as u32).filter(|n| !alive.contains(n)) {
                    alive.push(n);
                }
            });
        }
    }
}

/// Where webs are as far as it is known before it is known what is alive when: those that pass between functions are in the
/// array.
fn homes(module: &Module, body: &Body, ids: &[ValueId], webs: &[u32]) -> Vec<Home> {
    let mut homes = vec![Home::Variable(None); ids.len()];
    let mut pass = |id: ValueId| {
        let web = ids.binary_search(&id).ok().and_then(|n| webs.get(n));
        if let Some(home) = web.and_then(|&web| homes.get_mut(web as usize)) {
            *home = Home::Array;
        }
    };
    ids.iter().filter(|&&id| is_argument(module, body, id)).for_each(|&id| pass(id));
    for inst in &body.insts {
        let passes = match &inst.kind {
            InstKind::Return(_) => true,
            kind @ InstKind::Call { .. } => called(module, body, kind).is_none(),
            _ => false,
        };
        if passes {
            inst.result.into_iter().for_each(&mut pass);
            operands(body, &inst.kind, &mut pass);
        }
    }
    homes
}

/// The web of each object.
fn webs(module: &Module, body: &Body, ids: &[ValueId]) -> Vec<u32> {
    let mut webs: Vec<u32> = (0..ids.len() as u32).collect();
    fn root(webs: &mut [u32], mut n: u32) -> u32 {
        while let Some(&up) = webs.get(n as usize)
            && up != n
        {
            let above = webs.get(up as usize).copied().unwrap_or(up);
            if let Some(way) = webs.get_mut(n as usize) {
                *way = above;
            }
            n = above;
        }
        n
    }
    let place = |id: ValueId| ids.binary_search(&id).ok().map(|n| n as u32);
    for inst in &body.insts {
        let Some(result) = inst.result.and_then(place) else { continue };
        let mut join = |id: ValueId| {
            if let Some(other) = place(id) {
                let (a, b) = (root(&mut webs, result), root(&mut webs, other));
                if let Some(web) = webs.get_mut(a as usize) {
                    *web = b;
                }
            }
        };
        match &inst.kind {
            InstKind::Phi(incoming) => body.list(*incoming).iter().for_each(|&(id, _)| join(id)),
            InstKind::Select([_, yes, no]) => [*yes, *no].into_iter().for_each(join),
            kind if called(module, body, kind) == Some(Dx::HitObjectSetShaderTableIndex) => {
                operands(body, kind, &mut join)
            }
            // What a function gives may be what it is given.
            kind @ InstKind::Call { .. } if called(module, body, kind).is_none() => {
                operands(body, kind, &mut join)
            }
            _ => {}
        }
    }
    (0..ids.len() as u32).map(|n| root(&mut webs, n)).collect()
}
