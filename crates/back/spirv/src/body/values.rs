//! Ids of values, slots and variables.

use super::*;

impl Body<'_, '_> {
    /// The variable of a slot.
    pub(crate) fn slot(&self, slot: Slot) -> Result<Id, Reason> {
        self.slots.get(slot).copied().filter(|&id| id != 0).ok_or(Reason::Invalid("an unknown slot"))
    }

    /// Gives a value its id, from here to the end of the list at work.
    #[inline]
    pub(crate) fn define(&mut self, v: Value, id: Id) {
        self.scratch.ids[v.index()] = (id, self.list);
        if self.list != ROOT && self.scratch.places.vars[v.index()].is_read() {
            self.write(v.as_u32(), id);
        }
        if self.shared.unit.options.names == Names::All {
            self.name_value(v, id);
        }
    }

    #[cold]
    pub(super) fn name_value(&mut self, v: Value, id: Id) {
        if phi_number(id).is_none()
            && let Some(slot) = self.function.values[v].hint.expand()
            && let Some(data) = self.function.slots.get(slot)
        {
            self.shared.unit.name(Names::All, id, &data.name);
        }
    }

    /// The id of a value here.
    #[inline(always)]
    pub(crate) fn value(&mut self, v: Value) -> Id {
        match self.scratch.ids.get(v.index()) {
            Some(&(id, home)) if id != 0 && self.scratch.open[home as usize] => id,
            _ => self.find_value(v),
        }
    }

    /// The id of a value that has none here: of a literal or a variable.
    pub(super) fn find_value(&mut self, v: Value) -> Id {
        let function = self.function;
        if let Some(inst) = function.def_inst(v) {
            let data = &function.insts[inst];
            let ty = function.ty(v);
            let literal = match (data.op, data.imm) {
                (Op::Const, Imm::Const(c)) => {
                    self.shared.unit.literal(self.shared.helpers, ty, &function.consts[c]).ok()
                }
                (Op::Undef, _) => Some(Literal::Global(self.shared.unit.undef(ty))),
                _ => None,
            };
            if let Some(literal) = literal {
                let (id, home) = match literal {
                    Literal::Global(id) => (id, ROOT),
                    Literal::Here(id) => (id, self.list),
                };
                self.scratch.ids[v.index()] = (id, home);
                return id;
            }
        }
        self.read(v.as_u32())
    }

    /// The length of the array that a buffer is: `ask` writes what asks for it, once in the lists around.
    pub(crate) fn length(&mut self, var: Id, ask: impl FnOnce(&mut Self) -> Id) -> Id {
        if let Some(&(_, id, _)) = self.scratch.lengths.iter().find(|known| known.0 == var) {
            return id;
        }
        let id = ask(self);
        self.scratch.lengths.push((var, id, self.list));
        id
    }

    /// What `compute` gives, computed once in the lists around.
    pub(crate) fn once(&mut self, key: [u32; 4], compute: impl FnOnce(&mut Self) -> Id) -> Id {
        if let Some(&(id, list)) = self.scratch.computed.get(&key)
            && self.scratch.open[list as usize]
        {
            return id;
        }
        let id = compute(self);
        if self.scratch.conditions == 0 {
            self.scratch.computed.insert(key, (id, self.list));
        }
        id
    }

    pub(crate) fn write(&mut self, var: u32, id: Id) {
        match self.memory(var) {
            Some(pointer) => self.unit().effect(S::Store, &[pointer, id]),
            None => self.scratch.ssa.write(var, self.block, id),
        }
    }

    /// Where a variable is, if it is in memory.
    pub(super) fn memory(&self, var: u32) -> Option<Id> {
        self.scratch.memory.get(var as usize).copied().filter(|&id| id != 0)
    }

    pub(super) fn read(&mut self, var: u32) -> Id {
        if let Some(pointer) = self.memory(var) {
            let ty = var_type(self.function, var);
            return self.unit().op(S::Load, ty, &[pointer]);
        }
        match self.scratch.ssa.read(var, self.block) {
            UNDEF => {
                let ty = var_type(self.function, var);
                self.unit().undef(ty)
            }
            id => id,
        }
    }
}

/// The type of a variable.
pub(super) fn var_type(function: &Function, var: u32) -> Type {
    function.values.get(Value::from_u32(var)).map_or(Type::I32, |data| data.ty)
}
