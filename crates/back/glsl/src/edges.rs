//! Edges: the parallel copy of arguments to parameters as a sequence of assignments.

use crate::error::Error;
use crate::expr::ANY;
use crate::literal::type_name;
use crate::plan::Mode;
use crate::writer::Writer;
use std::fmt::Write;
use xenoglot_ir::Value;
use xenoglot_structure::graph::Edge;

impl Writer<'_> {
    /// The copies of an edge that do something: variable and value.
    pub(crate) fn copies(&self, edge: Edge) -> impl Iterator<Item = (u32, Value)> {
        let f = self.func;
        let e = f.blocks.get(edge.from).and_then(|b| b.term.edges.get(edge.index as usize));
        e.into_iter().flat_map(move |e| f.params(e.block).iter().zip(f.edge_args(e))).filter_map(
            |(&p, &a)| {
                let to = self.vars.of(p)?;
                (self.vars.of(a) != Some(to)).then_some((to, a))
            },
        )
    }

    /// The parallel copy of an edge as a sequence: a variable is written once no later copy reads it, and
    /// a circle is opened by saving one of its values.
    pub(crate) fn edge(&mut self, edge: Edge) -> Result<(), Error> {
        let start = self.out.len();
        let copies: Vec<Copy> =
            self.copies(edge).map(|(to, value)| Copy { to, value, saved: None }).collect();
        match copies.as_slice() {
            [] => return Ok(()),
            [one] => {
                let (to, value) = (one.to, one.value);
                self.copy(to, Source::Value(value))?;
            }
            _ => self.parallel(copies)?,
        }
        self.comment(start);
        Ok(())
    }

    fn copy(&mut self, to: u32, from: Source) -> Result<(), Error> {
        let vars = self.vars;
        let to = vars.get(to).ok_or(Error::Malformed("a variable that does not exist"))?;
        self.pad();
        self.out.push_str(&to.name);
        self.out.push_str(" = ");
        match from {
            Source::Value(v) => self.value(v, ANY)?,
            Source::Saved(n) => {
                let _ = write!(self.out, "x_saved{n}");
            }
        }
        self.out.push_str(";\n");
        Ok(())
    }

    fn parallel(&mut self, mut copies: Vec<Copy>) -> Result<(), Error> {
        // Readers by variable: (variable, copy), sorted, so that a variable's are together.
        let mut readers: Vec<(u32, u32)> = Vec::new();
        let mut reads = Vec::new();
        for (i, copy) in (0u32..).zip(&copies) {
            reads.clear();
            self.variables_read(copy.value, &mut reads);
            readers.extend(reads.iter().filter(|&&n| n != copy.to).map(|&n| (n, i)));
        }
        readers.sort_unstable();
        readers.dedup();
        let range = |n: u32| readers.partition_point(|r| r.0 < n)..readers.partition_point(|r| r.0 <= n);
        let mut writer_of: Vec<(u32, u32)> = (0u32..).zip(&copies).map(|(i, c)| (c.to, i)).collect();
        writer_of.sort_unstable();
        let mut waiting: Vec<u32> = copies.iter().map(|c| range(c.to).len() as u32).collect();
        let mut done = vec![false; copies.len()];
        let mut ready: Vec<u32> =
            (0..copies.len() as u32).rev().filter(|&i| waiting[i as usize] == 0).collect();
        let mut next = 0;
        let mut saved = 0;
        let mut opened = false;
        loop {
            while let Some(i) = ready.pop() {
                let copy = &copies[i as usize];
                let (to, value, slot) = (copy.to, copy.value, copy.saved);
                self.copy(to, slot.map_or(Source::Value(value), Source::Saved))?;
                done[i as usize] = true;
                if slot.is_none() {
                    self.release(value, to, &writer_of, &mut waiting, &mut ready);
                }
            }
            // A value may read several variables, so that one saved value need not open all circles.
            while copies.get(next).is_some_and(|c: &Copy| done[next] || c.saved.is_some()) {
                next += 1;
            }
            let Some(copy) = copies.get_mut(next) else { break };
            if !opened {
                self.line("{");
                self.indent += 1;
                opened = true;
            }
            let (value, to) = (copy.value, copy.to);
            copy.saved = Some(saved);
            self.pad();
            let ty = self.func.ty(value);
            if ty.kind().is_float() {
                self.out.push_str(crate::writer::precise(self.target()));
            }
            let _ = write!(self.out, "{} x_saved{saved} = ", type_name(ty)?);
            self.value(value, ANY)?;
            self.out.push_str(";\n");
            saved += 1;
            self.release(value, to, &writer_of, &mut waiting, &mut ready);
        }
        if opened {
            self.indent -= 1;
            self.line("}");
        }
        if done.contains(&false) {
            return Err(Error::Malformed("a parallel copy writes one variable twice"));
        }
        Ok(())
    }

    /// The variables that `value` reads wait for one reader less.
    fn release(
        &self,
        value: Value,
        to: u32,
        writer_of: &[(u32, u32)],
        waiting: &mut [u32],
        ready: &mut Vec<u32>,
    ) {
        let mut reads = Vec::new();
        self.variables_read(value, &mut reads);
        reads.sort_unstable();
        reads.dedup();
        for n in reads.into_iter().filter(|&n| n != to) {
            let Ok(at) = writer_of.binary_search_by_key(&n, |w| w.0) else { continue };
            let i = writer_of[at].1;
            waiting[i as usize] -= 1;
            if waiting[i as usize] == 0 {
                ready.push(i);
            }
        }
    }

    /// The variables in the expression of `v`; inlining is bounded, so is this recursion.
    fn variables_read(&self, v: Value, reads: &mut Vec<u32>) {
        match self.plan.mode(v) {
            Mode::Var => reads.extend(self.vars.of(v)),
            Mode::Inline => {
                if let Some(inst) = self.func.def_inst(v) {
                    self.func.args(inst).iter().for_each(|&a| self.variables_read(a, reads));
                }
            }
            Mode::Dead => {}
        }
    }
}

/// One copy of an edge.
struct Copy {
    to: u32,
    value: Value,
    /// The scratch variable that has the value.
    saved: Option<u32>,
}

enum Source {
    Value(Value),
    Saved(u32),
}
