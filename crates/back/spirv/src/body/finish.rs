//! The end of a function: phis get their places and ids.

use super::*;

/// Words that are searched for phis at once.
const CHUNK: usize = 8;

impl Body<'_, '_> {
    /// Appends the function's blocks, with their phis, to the module.
    pub(super) fn finish(&mut self, head: &[u32]) {
        let Body { shared, function, scratch, .. } = self;
        let ssa = &mut scratch.ssa;
        let unit = &mut *shared.unit;
        ssa.simplify(unit.constants());
        let is_one_type = |a, b| var_type(function, a) == var_type(function, b);
        if ssa.join(&unit.code, &unit.literals, is_one_type) {
            ssa.simplify(unit.constants());
        }
        if unit.options.portable_ops {
            ssa.carry_by_phis();
        }
        let mut code = std::mem::take(&mut unit.code);
        let mut literals = std::mem::take(&mut unit.literals);
        let mut names = Names { unit, ssa, function };
        let mut at = 0;
        for literal in literals.drain(..) {
            names.resolve(code.get_mut(at..literal.start).unwrap_or_default());
            at = literal.end;
        }
        names.resolve(code.get_mut(at..).unwrap_or_default());
        names.resolve_operands();
        unit.literals = literals;
        // Only now: helpers written meanwhile are functions of their own.
        let phis = 3 * ssa.phi_count() + 2 * ssa.operands().len();
        let mut functions = std::mem::take(&mut unit.functions);
        functions.reserve(head.len() + code.len() + phis + 1);
        functions.extend_from_slice(head);
        ssa.chain_phis();
        let mut from = 0;
        for (block, start) in ssa.blocks_with_phis() {
            functions.extend_from_slice(code.get(from..start).unwrap_or_default());
            let fits = ssa.write_phis(block, &mut functions, |var| unit.ty(var_type(function, var)));
            unit.too_long |= !fits;
            from = start;
        }
        functions.extend_from_slice(code.get(from..).unwrap_or_default());
        push(&mut functions, S::FunctionEnd, &[]);
        unit.functions = functions;
        code.clear();
        unit.code = code;
    }
}

/// Replaces provisional ids by ids of the output.
struct Names<'a> {
    unit: &'a mut Unit,
    ssa: &'a mut Ssa,
    function: &'a Function,
}

impl Names<'_> {
    fn resolve(&mut self, words: &mut [u32]) {
        let (chunks, rest) = words.as_chunks_mut::<CHUNK>();
        for chunk in chunks {
            if chunk.iter().fold(0, |all, word| all | word) >= PHI {
                self.resolve_each(chunk);
            }
        }
        self.resolve_each(rest);
    }

    fn resolve_each(&mut self, words: &mut [u32]) {
        for word in words {
            if *word >= PHI {
                let known = self.ssa.known_name(*word);
                *word = known.unwrap_or_else(|| self.name(*word, None));
            }
        }
    }

    fn resolve_operands(&mut self) {
        let mut operands = std::mem::take(self.ssa.operands());
        while let Some(number) = self.ssa.newly_used() {
            let var = self.ssa.var(number);
            for operand in &mut operands[self.ssa.operands_of(number)] {
                if *operand >= PHI || *operand == UNDEF {
                    let known = self.ssa.known_name(*operand);
                    *operand = known.unwrap_or_else(|| self.name(*operand, Some(var)));
                }
            }
        }
        *self.ssa.operands() = operands;
    }

    /// The id in the output; `var` is the variable that has it, if it is not the one that it was made for.
    fn name(&mut self, id: Id, var: Option<u32>) -> Id {
        let name = match self.ssa.root(id) {
            UNDEF => {
                let var = var.unwrap_or_else(|| self.ssa.var_of(id));
                self.unit.undef(var_type(self.function, var))
            }
            root => {
                let name = self.ssa.name_root(root, || self.unit.id());
                if root == id {
                    return name;
                }
                name
            }
        };
        self.ssa.set_name(id, name);
        name
    }
}
