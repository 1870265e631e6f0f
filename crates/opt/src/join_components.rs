//! Joins variables that share a location into one vector: WGSL and what naga reads have one variable at a location, from its
//! first component on.
//!
//! ```text
//! input %a = location 1 component 0 : f32          input %location1 = location 1 : f32x3
//! input %b = location 1 component 1 : f32x2    =>
//!   v0 : f32 = input %a                              v2 : f32x3 = input %location1
//!                                                    v0 : f32 = extract v2, 0
//! ```
//!
//! Outputs are kept in a slot, whose lanes change one by one; each change is written whole. Lanes that nothing was written to
//! are zero.
//!
//! Variables of other types or interpolation than their neighbours, captured ones, and arrays of outputs stay.

use crate::{Changed, Lacks, edit};
use xenoglot_ir::entity::{PrimaryMap, SecondaryMap, packed_option::PackedOption};
use xenoglot_ir::module::{Direction, Semantic, VarData};
use xenoglot_ir::{Block, Builder, Flags, Function, Imm, Inst, Lanes, Module, Op, Slot, Type, Var};

/// Where a variable is now.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Place {
    joined: PackedOption<Var>,
    /// Its first lane.
    lane: u8,
}

/// Joins the variables of a module.
pub fn run(module: &mut Module, lacks: &Lacks) -> Changed {
    if !lacks.location_components || !module.captures.is_empty() {
        return Changed::NONE;
    }
    let mut places: SecondaryMap<Var, Place> = SecondaryMap::new();
    let vars: Vec<Var> = module.vars.keys().collect();
    let mut any = false;
    for &var in &vars {
        if places[var].joined.is_some() {
            continue;
        }
        let Some(group) = group(module, &vars, var) else { continue };
        let joined = declare(module, &group);
        for &(member, lane) in &group {
            places[member] = Place { joined: joined.into(), lane };
        }
        any = true;
    }
    if !any {
        return Changed::NONE;
    }
    for f in module.funcs.values_mut() {
        rewrite(f, &module.vars, &places);
    }
    edit::drop_vars(module, |var| places[var].joined.is_some());
    Changed::INSTS
}

fn location(data: &VarData) -> Option<(u32, u8)> {
    match data.semantic {
        Semantic::Location { location, component } => Some((location, component)),
        Semantic::Builtin(_) => None,
    }
}

/// The variables at the location of one with their lanes, if they can be one variable and are not.
fn group(module: &Module, vars: &[Var], of: Var) -> Option<Vec<(Var, u8)>> {
    let first = &module.vars[of];
    let (at, _) = location(first)?;
    let neighbours = vars.iter().copied().filter(|&var| {
        let data = &module.vars[var];
        data.direction == first.direction && location(data).is_some_and(|(l, _)| l == at)
    });
    let group: Vec<(Var, u8)> =
        neighbours.map(|var| (var, location(&module.vars[var]).map_or(0, |(_, c)| c))).collect();
    if let [(_, 0)] = group[..] {
        return None;
    }
    let is_alike = |data: &VarData| {
        data.ty.kind() == first.ty.kind()
            && data.interpolation == first.interpolation
            && (data.array, data.inner, data.stream) == (first.array, first.inner, first.stream)
    };
    let is_plain =
        first.direction == Direction::Input || first.array.is_none() && is_entry_only(module, &group);
    let fits = first.ty.kind().bits() <= 32
        && group.iter().all(|&(var, lane)| lane + module.vars[var].ty.lanes() <= 4);
    // Two variables at one component would be two names of the same.
    let mut lanes = 0u8;
    let apart = group.iter().all(|&(var, lane)| {
        let mask = ((1 << module.vars[var].ty.lanes()) - 1) << lane;
        let free = lanes & mask == 0;
        lanes |= mask;
        free
    });
    (is_plain && fits && apart && group.iter().all(|&(var, _)| is_alike(&module.vars[var]))).then_some(group)
}

/// Whether only the entry function writes some outputs: slots are a function's own.
fn is_entry_only(module: &Module, group: &[(Var, u8)]) -> bool {
    module.funcs.iter().all(|(func, f)| {
        let writes = |inst: Inst| matches!(f.insts[inst].imm, Imm::Var(v) if group.iter().any(|g| g.0 == v));
        module.entry.expand() == Some(func)
            || f.layout.iter().all(|&block| !f.blocks[block].insts.iter().any(|&inst| writes(inst)))
    })
}

fn declare(module: &mut Module, group: &[(Var, u8)]) -> Var {
    let end = group.iter().map(|&(var, lane)| lane + module.vars[var].ty.lanes()).max().unwrap_or(1);
    let first = module.vars[group[0].0].clone();
    let at = location(&first).map_or(0, |(l, _)| l);
    let mut name = format!("location{at}_{}", first.direction.name());
    while module.vars.values().any(|v| v.name == name) {
        name.push('_');
    }
    let ty = Type::new(first.ty.kind(), end).unwrap_or(first.ty);
    let semantic = Semantic::Location { location: at, component: 0 };
    module.vars.push(VarData { name, ty, semantic, ..first })
}

/// Makes accesses to variables those to the lanes of what they were joined to.
fn rewrite(f: &mut Function, vars: &PrimaryMap<Var, VarData>, places: &SecondaryMap<Var, Place>) {
    let mut slots: SecondaryMap<Var, PackedOption<Slot>> = SecondaryMap::new();
    for at in 0..f.layout.len() {
        let block = f.layout[at];
        let is_joined = |f: &Function, inst: Inst| match f.insts[inst].imm {
            Imm::Var(var) => places[var].joined.expand().map(|joined| (var, joined)),
            _ => None,
        };
        if f.blocks[block].insts.iter().all(|&inst| is_joined(f, inst).is_none()) {
            continue;
        }
        let insts = std::mem::take(&mut f.blocks[block].insts);
        for inst in insts {
            let Some((var, joined)) = is_joined(f, inst) else {
                f.blocks[block].insts.push(inst);
                continue;
            };
            let (ty, lane) = (vars[joined].ty, places[var].lane);
            if f.insts[inst].op == Op::Output {
                let slot =
                    slots[joined].expand().unwrap_or_else(|| f.add_slot(vars[joined].name.clone(), ty));
                slots[joined] = slot.into();
                write(f, block, inst, (joined, slot), lane);
            } else {
                read(f, block, inst, (joined, ty), lane);
            }
        }
    }
}

/// Reads all lanes; the instruction takes its own of them.
fn read(f: &mut Function, block: Block, inst: Inst, (joined, ty): (Var, Type), lane: u8) {
    let data = &f.insts[inst];
    let (op, flags, guest) = (data.op, data.flags, data.guest);
    let args = f.args(inst).to_vec();
    let own = f.result(inst).map_or(1, |v| f.ty(v).lanes());
    let whole = f.make_inst(op, flags, Imm::Var(joined), &args, &[ty], guest);
    f.blocks[block].insts.extend([whole, inst]);
    let Some(value) = f.result(whole) else { return };
    match own {
        1 => edit::rewrite(f, inst, Op::Extract, Flags::NONE, Imm::Lane(lane), &[value]),
        _ => {
            let lanes: Vec<u8> = (lane..lane + own).collect();
            let Some(lanes) = Lanes::new(&lanes) else { return };
            edit::rewrite(f, inst, Op::Shuffle, Flags::NONE, Imm::Lanes(lanes), &[value, value]);
        }
    }
}

/// Changes some lanes of the slot and writes it.
fn write(f: &mut Function, block: Block, inst: Inst, (joined, slot): (Var, Slot), lane: u8) {
    let Some(&value) = f.args(inst).first() else { return };
    let (guest, lanes) = (f.insts[inst].guest, f.ty(value).lanes());
    let b = &mut Builder::new(f, block);
    b.set_guest(guest);
    let mut whole = b.slot_get(slot);
    for n in 0..lanes {
        let part = if lanes == 1 { value } else { b.extract(value, n) };
        whole = b.insert(whole, lane + n, part);
    }
    b.slot_set(slot, whole);
    b.output(joined, whole);
}
