//! The end of a function: phis get their places and ids.

use super::*;

impl Body<'_, '_> {
    /// Appends the function's blocks, with their phis, to the module.
    pub(super) fn finish(&mut self, head: &[u32]) {
        let Body { shared, function, scratch, .. } = self;
        let Scratch { ssa, .. } = &mut **scratch;
        let unit = &mut *shared.unit;
        ssa.simplify();
        if unit.options.portable_ops {
            ssa.carry_by_phis();
        }
        let mut code = std::mem::take(&mut unit.code);
        let type_of = |var: u32| function.values.get(Value::from_u32(var)).map_or(Type::I32, |data| data.ty);
        let final_id = |unit: &mut Unit, ssa: &mut Ssa, id: Id, var: Option<u32>| match ssa.root(id) {
            UNDEF => unit.undef(type_of(var.unwrap_or_else(|| ssa.var_of(id)))),
            root => ssa.name_phi(root, || unit.id()),
        };
        let mut at = 0;
        while let Some(&word) = code.get(at) {
            let len = (word >> 16) as usize;
            let words = at + 1..(at + len.max(1)).min(code.len());
            // Only these have literals that may look like ids.
            let ids = match word & 0xffff {
                op if op == S::Switch as u32 => at + 1..at + 2,
                op if op == S::Line as u32 => at..at,
                _ => words.clone(),
            };
            for word in &mut code[ids] {
                if phi_number(*word).is_some() {
                    *word = final_id(unit, ssa, *word, None);
                }
            }
            at = words.end;
        }
        while let Some(number) = ssa.newly_used() {
            let var = ssa.var(number);
            for place in ssa.operand_places(number) {
                let operand = ssa.operand(place);
                let id = final_id(unit, ssa, operand, Some(var));
                ssa.set_operand(place, id);
            }
        }
        // Only now: helpers written meanwhile are functions of their own.
        unit.functions.extend_from_slice(head);
        let phis = ssa.used_phis();
        let mut phis = phis.iter().peekable();
        for (i, block) in ssa.blocks.iter().enumerate() {
            push(&mut unit.functions, S::Label, &[block.label]);
            while let Some(&(_, var, id, operands)) = phis.next_if(|p| p.0 == i as u32) {
                let mut words: SmallVec<[u32; 16]> = SmallVec::from_slice(&[unit.ty(type_of(var)), id]);
                for (k, &operand) in operands.iter().enumerate() {
                    words.extend([operand, ssa.pred_label(i as u32, k)]);
                }
                push(&mut unit.functions, S::Phi, &words);
            }
            let end = ssa.blocks.get(i + 1).map_or(code.len(), |b| b.start);
            unit.functions.extend_from_slice(&code[block.start..end]);
        }
        push(&mut unit.functions, S::FunctionEnd, &[]);
        code.clear();
        unit.code = code;
    }
}
