//! The variables of a function: the temporaries its values share, with names after the guest registers they came
//! from.

use crate::names::Namer;
use crate::plan::{Mode, Plan};
use xenoglot_ir::analysis::Analyses;
use xenoglot_ir::{Function, Type, Value};
use xenoglot_opt::temporaries::Temporaries;

/// A variable of the output.
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) ty: Type,
}

/// The variables of one function. Buffers are reused.
#[derive(Default)]
pub(crate) struct Variables {
    temporaries: Temporaries,
    analyses: Analyses,
    vars: Vec<Variable>,
}

impl Variables {
    /// The variable of `v`.
    pub(crate) fn of(&self, v: Value) -> Option<u32> {
        self.temporaries.of(v).map(|t| t.as_u32())
    }

    pub(crate) fn get(&self, n: u32) -> Option<&Variable> {
        self.vars.get(n as usize)
    }

    pub(crate) fn all(&self) -> &[Variable] {
        &self.vars
    }

    pub(crate) fn compute(&mut self, f: &Function, plan: &Plan, names: &mut Namer) {
        self.analyses.clear();
        self.temporaries.compute(f, &mut self.analyses, |v| plan.mode(v) == Mode::Var);
        self.vars.clear();
        let mut unnamed = 0;
        for data in self.temporaries.temps().values() {
            let name = match data.hint.expand().and_then(|s| f.slots.get(s)) {
                Some(slot) => names.local(&slot.name),
                None => {
                    unnamed += 1;
                    names.local(&format!("t{}", unnamed - 1))
                }
            };
            self.vars.push(Variable { name, ty: data.ty });
        }
    }
}
