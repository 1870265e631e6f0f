//! One function: walks the structured form and emits blocks.

mod constructs;
mod exits;
mod finish;
mod values;

use crate::error::{Error, Reason};
use crate::interface::Interface;
use crate::memory::{self, Memory, View};
use crate::offsets::Offsets;
use crate::options::Names;
use crate::places::{self, Places, ROOT, fuel, selector};
use crate::pure::{Helpers, Literal};
use crate::rays::Rays;
use crate::ssa::{Made, Ssa, UNDEF, phi_number};
use crate::texture::Loaded;
use crate::unit::{Id, PHI, Unit, push};
use constructs::{Arm, Level};
use exits::{Behind, Exit};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use spirv::{FunctionControl, LoopControl, Op as S, SelectionControl, StorageClass};
use values::var_type;
use xenoglot_ir::entities::{Func, Slot};
use xenoglot_ir::entity::{EntityRef, PrimaryMap, SecondaryMap};
use xenoglot_ir::module::{Module, Stage};
use xenoglot_ir::{Block, Function, Imm, Kind, NO_GUEST, Op, TermKind, Type, Value};
use xenoglot_structure::tree::{Arms, List, Selector, Stmt, Tree};

/// What one module's functions share.
pub(crate) struct Shared<'a> {
    pub(crate) unit: &'a mut Unit,
    pub(crate) helpers: &'a mut Helpers,
    pub(crate) interface: &'a mut Interface,
    pub(crate) memory: &'a Memory,
    pub(crate) rays: &'a Rays,
    pub(crate) module: &'a Module,
    /// Ids of the functions.
    pub(crate) functions: &'a PrimaryMap<Func, Id>,
    /// The string that names the guest's code, if lines are wanted.
    pub(crate) file: Option<Id>,
}

/// State that is kept from function to function for its memory.
#[derive(Default)]
pub(crate) struct Scratch {
    ssa: Ssa,
    /// Ids of values by value, 0 before their definition, and the list in which each is defined.
    ids: Vec<(Id, u32)>,
    /// Whether each list is being emitted.
    open: Vec<bool>,
    /// Lengths of buffers that were asked for in the lists around: by variable, the id and the list that it is in.
    lengths: Vec<(Id, Id, u32)>,
    /// What was computed for accesses: by operation and operands, the id and the list that it is in.
    computed: FxHashMap<[u32; 4], (Id, u32)>,
    /// Conditions around what is emitted that are no statements.
    conditions: u32,
    places: Places,
    pub(crate) offsets: Offsets,
    /// Pointers of the variables that are in memory, 0 of others; empty if none is.
    memory: Vec<Id>,
    frames: Vec<Frame>,
    /// Arms of the selections and chains at work that are still to come, by label or condition; each one's from the
    /// last to the next.
    arms: Vec<(Id, Arm)>,
    /// Parts of long switches that are still to come, the next one last.
    levels: Vec<Level>,
    /// Blocks that lead to the ends of the selections at work.
    preds: Vec<u32>,
    targets: Vec<Loop>,
}

/// What is to be done where something ends. Kept small: there are two for each list.
#[derive(Clone, Copy)]
enum Frame {
    List {
        list: List,
        next: u32,
        serial: u32,
        exit: Option<Exit>,
    },
    Select(Select),
    /// A switch as a sequence of ifs, each with one arm, whose conditions are known beforehand: its arms from this on.
    Chain(u32),
    Loop,
}

#[derive(Clone, Copy)]
struct Select {
    /// Its arms and what leads to its end start here.
    arms: u32,
    preds: u32,
    head: u32,
    /// Its merge block; 0 where it needs none.
    merge: Id,
    /// Where the ends of its arms lead instead of to its merge block.
    exit: Option<Exit>,
    /// Whether blocks deep inside of its arms may branch to its merge block.
    is_exit: bool,
}

struct Loop {
    header: u32,
    pre: u32,
    merge: Id,
    breaks: SmallVec<[u32; 4]>,
    again: Id,
    continues: SmallVec<[u32; 4]>,
}

/// A function at work.
pub(crate) struct Body<'a, 'm> {
    pub(crate) shared: &'a mut Shared<'m>,
    pub(crate) function: &'a Function,
    pub(crate) scratch: &'a mut Scratch,
    tree: &'a Tree,
    /// The block at work, and whether it has its terminator.
    block: u32,
    ended: bool,
    list: u32,
    loops_met: usize,
    slots: SecondaryMap<Slot, Id>,
    pub(crate) private: Option<View>,
    line: u32,
    /// Handles by value.
    pub(crate) handles: FxHashMap<Value, Loaded>,
}

/// Emits `function` as `shared.functions[func]`.
pub(crate) fn emit(
    shared: &mut Shared,
    scratch: &mut Scratch,
    func: Func,
    function: &Function,
    tree: &Tree,
) -> Result<(), Error> {
    let entry = function.entry().ok_or(Error::Invalid("a function without blocks"))?;
    let unit = &mut *shared.unit;
    let result = return_type(unit, &function.returns);
    let params: SmallVec<[Id; 8]> = std::iter::once(result)
        .chain(function.params(entry).iter().map(|&p| unit.ty(function.ty(p))))
        .collect();
    let function_type = unit.type_of(S::TypeFunction, &params);
    let id = shared.functions[func];
    let mut head = Vec::new();
    push(&mut head, S::Function, &[result, id, FunctionControl::NONE.bits(), function_type]);
    unit.name(Names::Interface, id, &function.name);
    unit.code.clear();
    scratch.prepare(function, tree, shared.unit.options.host_bounds);
    let mut body = Body {
        shared,
        function,
        scratch,
        tree,
        block: 0,
        ended: false,
        list: ROOT,
        loops_met: 0,
        slots: SecondaryMap::new(),
        private: None,
        line: NO_GUEST,
        handles: FxHashMap::default(),
    };
    for (&p, &ty) in function.params(entry).iter().zip(&params[1..]) {
        let unit = &mut *body.shared.unit;
        let id = unit.id();
        push(&mut head, S::FunctionParameter, &[ty, id]);
        body.define(p, id);
    }
    body.start(entry);
    body.walk()?;
    body.finish(&head);
    Ok(())
}

/// The type a function returns: nothing, its only result's, or a struct of all.
pub(crate) fn return_type(unit: &mut Unit, returns: &[Type]) -> Id {
    match *returns {
        [] => unit.void(),
        [ty] => unit.ty(ty),
        ref many => {
            let members: SmallVec<[Id; 8]> = many.iter().map(|&t| unit.ty(t)).collect();
            unit.type_of(S::TypeStruct, &members)
        }
    }
}

impl Scratch {
    fn prepare(&mut self, function: &Function, tree: &Tree, host_bounds: bool) {
        let values = function.values.len();
        self.offsets.find(function, host_bounds);
        self.places.find(function, tree, &self.offsets);
        self.ssa.reset(self.places.vars.iter().map(|var| Made { writes: var.writes, made: var.made }));
        self.ids.clear();
        self.ids.resize(values, (0, ROOT));
        self.open.clear();
        self.open.push(true);
        self.lengths.clear();
        self.computed.clear();
        self.conditions = 0;
        self.frames.clear();
        self.arms.clear();
        self.levels.clear();
        self.preds.clear();
        self.targets.clear();
        self.memory.clear();
        if !self.places.in_memory.is_empty() {
            self.memory.resize(self.places.vars.len(), 0);
        }
    }
}

impl Body<'_, '_> {
    pub(crate) fn unit(&mut self) -> &mut Unit {
        self.shared.unit
    }

    /// The first block: private memory, slots, parameters the entry shares with edges back to it.
    fn start(&mut self, entry: Block) {
        let label = self.unit().id();
        let start = self.unit().label(label);
        self.block = self.scratch.ssa.add_entry(label, start);
        self.line = NO_GUEST;
        for (slot, data) in &self.function.slots {
            if !self.scratch.places.slots.contains(&slot) {
                continue;
            }
            let unit = &mut *self.shared.unit;
            let type_id = unit.ty(data.ty);
            let pointer = unit.pointer(StorageClass::Function, type_id);
            let zero = unit.null(type_id);
            let id = unit.op_raw(S::Variable, pointer, &[StorageClass::Function as u32, zero]);
            unit.name(Names::All, id, &data.name);
            self.slots[slot] = id;
        }
        for i in 0..self.scratch.places.in_memory.len() {
            let var = self.scratch.places.in_memory[i];
            let ty = var_type(self.function, var);
            let unit = self.unit();
            let type_id = unit.ty(ty);
            let pointer = unit.pointer(StorageClass::Function, type_id);
            let id = unit.op_raw(S::Variable, pointer, &[StorageClass::Function as u32]);
            self.scratch.memory[var as usize] = id;
        }
        if self.function.private_size > 0 {
            let size = self.function.private_size;
            self.private = Some(memory::private(self.unit(), size));
        }
        for &p in self.function.params(entry) {
            let (id, _) = self.scratch.ids[p.index()];
            self.write(p.as_u32(), id);
        }
        if self.shared.unit.options.robust {
            let limit = self.shared.unit.options.loop_limit;
            let (var, id) = (fuel(self.function), self.unit().u32(limit));
            self.write(var, id);
        }
    }

    /// The list of statements at work.
    pub(crate) fn list(&self) -> u32 {
        self.list
    }

    // Blocks.

    /// Opens a block that only `from` leads to.
    fn open_block(&mut self, label: Id, from: u32) -> u32 {
        let start = self.unit().label(label);
        self.block = self.scratch.ssa.add_one(label, start, from);
        self.opened();
        self.block
    }

    /// Nothing is known of the block at work: it was just opened.
    fn opened(&mut self) {
        self.ended = false;
        self.line = NO_GUEST;
    }

    fn open_merge(&mut self, label: Id, head: u32, preds: &[u32]) -> u32 {
        let start = self.unit().label(label);
        self.block = self.scratch.ssa.add_merge(label, start, head, preds);
        self.opened();
        self.block
    }

    fn end<const N: usize>(&mut self, op: S, operands: &[u32; N]) {
        self.unit().effect(op, operands);
        self.ended = true;
    }

    /// Ends the invocation in the middle of a block of the IR; what follows is not reached.
    pub(crate) fn end_invocation(&mut self, op: S, operands: &[u32]) {
        self.unit().effect_of(op, operands);
        self.ended = true;
        let (label, head) = (self.unit().id(), self.block);
        self.open_merge(label, head, &[]);
    }

    /// Ends the block with a jump to `label` and returns it, or ends it as unreachable.
    fn leave(&mut self, label: Id) -> Option<u32> {
        if self.ended {
            return None;
        }
        if !self.scratch.ssa.blocks[self.block as usize].reachable {
            self.end(S::Unreachable, &[]);
            return None;
        }
        self.end(S::Branch, &[label]);
        Some(self.block)
    }

    /// Emits `then` for the invocations where `cond` is true.
    pub(crate) fn when(&mut self, cond: Id, then: impl FnOnce(&mut Self)) -> (u32, u32) {
        let (yes, merge) = (self.unit().id(), self.unit().id());
        let head = self.block;
        self.unit().effect(S::SelectionMerge, &[merge, SelectionControl::NONE.bits()]);
        self.end(S::BranchConditional, &[cond, yes, merge]);
        self.open_block(yes, head);
        // What is asked for inside is not known behind it.
        let known = self.scratch.lengths.len();
        self.scratch.conditions += 1;
        then(self);
        self.scratch.conditions -= 1;
        self.scratch.lengths.truncate(known);
        let inner = self.block;
        match self.leave(merge) {
            Some(inner) => self.open_merge(merge, head, &[head, inner]),
            None => self.open_merge(merge, head, &[head]),
        };
        (head, inner)
    }

    /// The label of a block of the output.
    pub(crate) fn label(&self, block: u32) -> Id {
        self.scratch.ssa.blocks[block as usize].label
    }

    /// Notes the guest instruction of what follows.
    #[inline]
    pub(crate) fn guest(&mut self, guest: u32) {
        if let Some(file) = self.shared.file
            && guest != NO_GUEST
            && guest != self.line
        {
            self.line = guest;
            let unit = self.unit();
            unit.effect(S::Line, &[file, guest, 0]);
            unit.no_ids(2);
        }
    }

    // The tree.

    fn walk(&mut self) -> Result<(), Error> {
        self.push_list(self.tree.root(), None);
        while let Some(frame) = self.scratch.frames.pop() {
            match frame {
                Frame::List { list, next, serial, exit } => self.statements(list, next, serial, exit)?,
                Frame::Select(select) => self.end_arm(select),
                Frame::Chain(first) => self.link(first),
                Frame::Loop => self.close_loop(),
            }
        }
        if !self.ended {
            self.end(S::Unreachable, &[]);
        }
        Ok(())
    }

    /// Emits the statements of a list up to one that has statements inside.
    fn statements(&mut self, list: List, first: u32, serial: u32, exit: Option<Exit>) -> Result<(), Error> {
        self.list = serial;
        let rest = self.tree.list(list).get(first as usize..).unwrap_or_default();
        for (next, &stmt) in (first + 1..).zip(rest) {
            if stmt.has_body() {
                self.scratch.frames.push(Frame::List { list, next, serial, exit });
                let rest = self.tree.list(list).get(next as usize..).unwrap_or_default();
                return self.statement(stmt, Behind { exit: self.exit_behind(rest, exit), rest });
            }
            self.statement(stmt, Behind::default())?;
        }
        self.scratch.open[serial as usize] = false;
        let lengths = &mut self.scratch.lengths;
        while lengths.pop_if(|known| known.2 == serial).is_some() {}
        Ok(())
    }

    /// Goes on with a list, whose end leads to `exit` or to what comes behind it.
    fn push_list(&mut self, list: List, exit: Option<Exit>) {
        // The root list is never closed before the end.
        let serial = if self.scratch.frames.is_empty() {
            ROOT
        } else {
            self.scratch.open.push(true);
            self.scratch.open.len() as u32 - 1
        };
        self.list = serial;
        self.scratch.frames.push(Frame::List { list, next: 0, serial, exit });
    }

    /// Emits a statement, or opens the construct that it is.
    fn statement(&mut self, stmt: Stmt, behind: Behind<'_>) -> Result<(), Error> {
        match stmt {
            Stmt::Block(block) => self.ir_block(block),
            Stmt::Edge(edge) => {
                self.edge(edge);
                Ok(())
            }
            Stmt::Set { var, value } => {
                let id = self.unit().u32(value);
                let var = selector(self.function, var);
                self.write(var, id);
                Ok(())
            }
            Stmt::Branch { block, arms } => self.branch(block, arms, behind),
            Stmt::Switch { var, arms } => self.switch_selector(var, arms, behind),
            Stmt::Guard { value, body } => {
                let at = self.read(selector(self.function, Selector::Exit));
                let unit = self.unit();
                let wanted = unit.u32(value);
                let cond = unit.op(S::IEqual, Type::BOOL, &[at, wanted]);
                self.select(cond, &[Some(body), None], behind);
                Ok(())
            }
            Stmt::Loop { body, .. } => {
                self.open_loop(body);
                Ok(())
            }
            Stmt::Break => {
                self.leave_to(Exit::Break);
                Ok(())
            }
            Stmt::Continue => {
                self.leave_to(Exit::Continue);
                Ok(())
            }
            Stmt::Terminate(block) => self.terminate(block),
            Stmt::Unreachable => {
                if !self.ended {
                    self.end(S::Unreachable, &[]);
                }
                Ok(())
            }
        }
    }

    fn ir_block(&mut self, block: Block) -> Result<(), Error> {
        let function = self.function;
        let is_entry = self.scratch.ssa.blocks.len() == 1;
        if !(is_entry && function.entry() == Some(block)) {
            for &p in function.params(block) {
                if self.scratch.places.vars[p.index()].used {
                    let id = self.read(p.as_u32());
                    self.scratch.ids[p.index()] = (id, self.list);
                }
            }
        }
        for &inst in &function.blocks[block].insts {
            let data = &function.insts[inst];
            if matches!(data.op, Op::Const | Op::Undef) {
                continue; // written out at each use
            }
            if self.scratch.offsets.is_dead(function, inst) {
                continue; // accesses have them as numbers of elements
            }
            self.guest(data.guest);
            if !self.plain(data) {
                self.emit_inst(inst).map_err(|reason| reason.at(Some(data.op), data.guest))?;
            }
        }
        Ok(())
    }

    /// The variables that an edge writes, and their values.
    fn edge_values(&mut self, edge: xenoglot_structure::Edge) -> SmallVec<[(u32, Id); 4]> {
        let function = self.function;
        let edge = &function.edges(edge.from)[edge.index as usize];
        let mut written = SmallVec::new();
        for (&p, &a) in function.params(edge.block).iter().zip(function.edge_args(edge)) {
            if self.scratch.places.vars[p.index()].used {
                written.push((p.as_u32(), self.value(a)));
            }
        }
        written
    }

    fn edge(&mut self, edge: xenoglot_structure::Edge) {
        let function = self.function;
        let edge = &function.edges(edge.from)[edge.index as usize];
        if edge.args.is_empty() {
            return;
        }
        let (params, args) = (function.params(edge.block), function.edge_args(edge));
        if let (&[p], &[a]) = (params, args) {
            if self.scratch.places.vars[p.index()].used {
                let id = self.value(a);
                self.write(p.as_u32(), id);
            }
            return;
        }
        // All arguments are read before any parameter is written.
        let mut pairs: SmallVec<[(Value, Id); 8]> = SmallVec::new();
        for (&p, &a) in params.iter().zip(args) {
            if self.scratch.places.vars[p.index()].used {
                pairs.push((p, self.value(a)));
            }
        }
        for &(p, id) in &pairs {
            self.write(p.as_u32(), id);
        }
    }
}
