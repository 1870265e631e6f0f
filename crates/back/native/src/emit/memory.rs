//! Loads and stores.
//!
//! Where the lanes' addresses are a constant apart, each lane has a pointer, and four components are moved as rows and
//! transposed. Other addresses are compared with the buffer's bound; if all lanes lie inside the access is done here,
//! else by the functions of `host`.

use super::{Emitter, FIXED, MEM};
use crate::LANES;
use crate::error::CompileError;
use crate::exec::{self, Buffer, Context, Lanes};
use crate::host::{Access, Site};
use crate::plan::{Address, Affine, Components, all, components, is_word};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8X16, I32, I32X4, I64, I64X2};
use cranelift_codegen::ir::{self, BlockArg, InstBuilder, Value as Simd};
use xenoglot_ir::imm::Order;
use xenoglot_ir::module::OutOfBounds;
use xenoglot_ir::{Imm, Inst, MemInfo, Resource, Type, Value};

/// Pointers of the lanes with a constant to add.
struct Rows {
    at: [Simd; 4],
    offset: i32,
}

impl Emitter<'_> {
    fn access(&self, inst: Inst, ty: Type) -> Result<MemInfo, CompileError> {
        let Imm::Mem(mem) = self.f.insts[inst].imm else {
            return self.unsupported("an access without its facts", inst);
        };
        if !is_word(ty.kind()) {
            return self.unsupported(format!("values of kind {} in memory", ty.kind().name()), inst);
        }
        if mem.order != Order::None {
            return self.unsupported("atomic accesses", inst);
        }
        Ok(mem)
    }

    fn place(&self, resource: Resource, field: usize) -> i32 {
        (resource.as_u32() as usize * Buffer::SIZE + field) as i32
    }

    fn base(&mut self, resource: Resource) -> Simd {
        if let Some(found) = self.found.bases.iter().find(|b| b.0 == resource) {
            return found.1;
        }
        let at = self.place(resource, Buffer::BASE);
        let base = self.b.ins().load(I64, FIXED, self.buffers, at);
        self.found.bases.push((resource, base));
        base
    }

    /// A pointer per lane to invocation * stride.
    fn rows(&mut self, resource: Resource, stride: u32) -> [Simd; 4] {
        if let Some(found) = self.found.rows.iter().find(|r| (r.0, r.1) == (resource, stride)) {
            return found.2;
        }
        let base = self.base(resource);
        let mut rows = [base; 4];
        if let Some(&(_, distances)) = self.distances.iter().find(|d| d.0 == stride) {
            let first = self.b.ins().uextend(I64, self.first);
            let first = self.b.ins().imul_imm_u(first, i64::from(stride));
            rows[0] = self.b.ins().iadd(base, first);
            for (lane, distance) in (1..).zip(distances) {
                rows[lane] = self.b.ins().iadd(rows[0], distance);
            }
        }
        self.found.rows.push((resource, stride, rows));
        rows
    }

    pub(super) fn load(&mut self, inst: Inst, v: Value) -> Result<(), CompileError> {
        let ty = self.f.ty(v);
        let mem = self.access(inst, ty)?;
        let live = self.plan.live(v);
        if live == 0 {
            return Ok(());
        }
        let simds = match (self.plan.address(self.module, self.f, inst, &mem), mem.resource.expand()) {
            (Address::Fixed(offset), Some(resource)) if self.plan.is_constant(resource) => {
                self.load_constant(ty, live, resource, offset)
            }
            (Address::Fixed(offset), Some(resource)) => {
                let base = self.base(resource);
                self.load_splat(ty, live, base, offset as i32)
            }
            (Address::Affine(Affine { stride: 0, offset }), Some(resource)) => {
                let base = self.base(resource);
                self.load_splat(ty, live, base, offset as i32)
            }
            (Address::Affine(a), Some(resource)) => {
                let rows = Rows { at: self.rows(resource, a.stride), offset: a.offset as i32 };
                self.load_rows(ty, live, &rows)
            }
            (Address::Inside, Some(resource)) => {
                let at = self.get(self.f.args(inst)[0], 0);
                let base = self.base(resource);
                self.load_inside(ty, live, base, at, !self.plan.is_divergent(self.f.args(inst)[0]))
            }
            (address, _) => self.load_checked(inst, &mem, ty, live, address == Address::Uniform),
        };
        for c in components(live) {
            if let Some(simd) = simds[c] {
                self.set(v, c, simd);
            }
        }
        Ok(())
    }

    /// The components at one place, each in all lanes.
    fn load_splat(&mut self, ty: Type, live: Components, base: Simd, offset: i32) -> [Option<Simd>; 4] {
        let mut out = [None; 4];
        for c in components(live) {
            let word = self.b.ins().load(Self::scalar_type(ty), MEM, base, offset + 4 * c as i32);
            out[c] = Some(self.b.ins().splat(Self::simd(ty.kind()), word));
        }
        out
    }

    /// The same from the run's table of words that do not change, which has them in all lanes already.
    fn load_constant(
        &mut self,
        ty: Type,
        live: Components,
        resource: Resource,
        offset: u32,
    ) -> [Option<Simd>; 4] {
        let mut out = [None; 4];
        for c in components(live) {
            let word = (resource, offset + 4 * c as u32);
            let at = self.constants.iter().position(|&w| w == word).unwrap_or_else(|| {
                self.constants.push(word);
                self.constants.len() - 1
            });
            let table = *self.found.table.get_or_insert_with(|| {
                self.b.ins().load(I64, FIXED, self.context, Context::CONSTANTS as i32)
            });
            let at = (at * size_of::<Lanes>()) as i32;
            out[c] = Some(self.b.ins().load(Self::simd(ty.kind()), FIXED.with_aligned(), table, at));
        }
        out
    }

    /// The components at an offset that lies inside: the first lane's for all of them, or each lane's.
    fn load_inside(
        &mut self,
        ty: Type,
        live: Components,
        base: Simd,
        at: Simd,
        uniform: bool,
    ) -> [Option<Simd>; 4] {
        if uniform {
            let at = self.b.ins().extractlane(at, 0);
            let at = self.b.ins().uextend(I64, at);
            let at = self.b.ins().iadd(base, at);
            return self.load_splat(ty, live, at, 0);
        }
        let rows = self.pointers(Some(base), at);
        self.load_rows(ty, live, &rows)
    }

    fn load_rows(&mut self, ty: Type, live: Components, rows: &Rows) -> [Option<Simd>; 4] {
        let simd = Self::simd(ty.kind());
        let mut out = [None; 4];
        if ty.lanes() == 4 && live.count_ones() > 1 {
            let loaded = rows.at.map(|at| self.b.ins().load(I8X16, MEM, at, rows.offset));
            let columns = self.transpose(loaded, live);
            for (to, column) in out.iter_mut().zip(columns) {
                *to = column.map(|c| self.cast(simd, c));
            }
            return out;
        }
        for c in components(live) {
            let [first, rest @ ..] = rows.at;
            let at = |row: Simd, e: &mut Self| {
                e.b.ins().load(Self::scalar_type(ty), MEM, row, rows.offset + 4 * c as i32)
            };
            let word = at(first, self);
            let mut lanes = self.b.ins().splat(simd, word);
            for (lane, row) in (1u8..).zip(rest) {
                let word = at(row, self);
                lanes = self.b.ins().insertlane(lanes, word, lane);
            }
            out[c] = Some(lanes);
        }
        out
    }

    /// A load that may lie outside.
    fn load_checked(
        &mut self,
        inst: Inst,
        mem: &MemInfo,
        ty: Type,
        live: Components,
        uniform: bool,
    ) -> [Option<Simd>; 4] {
        let simd = Self::simd(ty.kind());
        let (at, inside) = self.checked(inst, mem, ty, uniform);
        let base = mem.resource.expand().map(|r| self.base(r));
        let [fast, slow, after] = [(); 3].map(|()| self.b.create_block());
        for _ in components(live) {
            self.b.append_block_param(after, simd);
        }
        self.b.ins().brif(inside, fast, &[], slow, &[]);

        self.b.switch_to_block(fast);
        let loaded = match base {
            Some(base) => self.load_inside(ty, live, base, at, uniform),
            None => {
                let rows = self.pointers(None, at);
                self.load_rows(ty, live, &rows)
            }
        };
        self.join(after, &loaded);

        self.b.switch_to_block(slow);
        self.b.set_cold_block(slow);
        self.put_scratch(0, at);
        // What is the same in all lanes is so in those, too, that do not execute.
        let mask = if uniform { None } else { self.mask };
        self.call(exec::gather as *const (), self.site_of(mem, ty), self.calls.access, mask);
        let mut loaded = [None; 4];
        for c in components(live) {
            loaded[c] = Some(self.take_scratch(1 + c, simd));
        }
        self.join(after, &loaded);

        self.b.switch_to_block(after);
        let mut params = self.b.block_params(after).to_vec().into_iter();
        let mut out = [None; 4];
        for c in components(live) {
            out[c] = params.next();
        }
        out
    }

    fn join(&mut self, after: ir::Block, simds: &[Option<Simd>; 4]) {
        let args: Vec<BlockArg> = simds.iter().flatten().map(|&s| BlockArg::Value(s)).collect();
        self.b.ins().jump(after, &args);
    }

    fn site_of(&self, mem: &MemInfo, ty: Type) -> Site {
        let resource = mem.resource.expand();
        Site::Access(Access {
            buffer: resource.map(|r| r.as_u32()),
            components: usize::from(ty.lanes()),
            policy: resource.map_or(OutOfBounds::Fault, |r| self.module.resources[r].oob),
        })
    }

    /// The lanes' offsets, 0 for those that do not execute, and whether all of them lie inside.
    fn checked(&mut self, inst: Inst, mem: &MemInfo, ty: Type, uniform: bool) -> (Simd, Simd) {
        let count = usize::from(ty.lanes());
        let mut at = self.get(self.f.args(inst)[0], 0);
        if let (Some(mask), false) = (self.mask, uniform) {
            at = self.b.ins().band(at, mask);
        }
        let bound = match mem.resource.expand() {
            Some(resource) => {
                let place = self.place(resource, Buffer::bound(count));
                let bound = self.b.ins().load(I32, FIXED, self.buffers, place);
                self.b.ins().splat(I32X4, bound)
            }
            None => self.constant(I32X4, exec::bound(self.f.private_size as usize, count)),
        };
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, at, bound);
        (at, self.b.ins().vall_true(inside))
    }

    /// The lanes' pointers into a buffer, or each into its own private memory.
    fn pointers(&mut self, base: Option<Simd>, at: Simd) -> Rows {
        let mut rows = match base {
            Some(base) => {
                let base = self.b.ins().splat(I64X2, base);
                let [low, high] = [self.b.ins().uwiden_low(at), self.b.ins().uwiden_high(at)]
                    .map(|at| self.b.ins().iadd(base, at));
                let at = [(low, 0), (low, 1), (high, 0), (high, 1)]
                    .map(|(pair, lane)| self.b.ins().extractlane(pair, lane));
                return Rows { at, offset: 0 };
            }
            None => {
                let first = self.b.ins().load(I64, FIXED, self.context, Context::PRIVATE as i32);
                let size = i64::from(self.f.private_size);
                [0, 1, 2, 3].map(|lane| self.b.ins().iadd_imm_u(first, lane * size))
            }
        };
        for (lane, row) in (0u8..).zip(&mut rows) {
            let at = self.b.ins().extractlane(at, lane);
            let at = self.b.ins().uextend(I64, at);
            *row = self.b.ins().iadd(*row, at);
        }
        Rows { at: rows, offset: 0 }
    }

    pub(super) fn store(&mut self, inst: Inst) -> Result<(), CompileError> {
        let v = self.f.args(inst)[1];
        let ty = self.f.ty(v);
        let mem = self.access(inst, ty)?;
        let mut columns = [None; 4];
        for c in components(all(ty)) {
            columns[c] = Some(self.get(v, c));
        }
        let resource = mem.resource.expand();
        if let (Address::Affine(a), Some(resource)) =
            (self.plan.address(self.module, self.f, inst, &mem), resource)
        {
            let rows = Rows { at: self.rows(resource, a.stride), offset: a.offset as i32 };
            self.store_rows(&columns, &rows);
            return Ok(());
        }
        let (at, inside) = self.checked(inst, &mem, ty, false);
        let base = resource.map(|r| self.base(r));
        let [fast, slow, after] = [(); 3].map(|()| self.b.create_block());
        self.b.ins().brif(inside, fast, &[], slow, &[]);

        self.b.switch_to_block(fast);
        let rows = self.pointers(base, at);
        self.store_rows(&columns, &rows);
        self.b.ins().jump(after, &[]);

        self.b.switch_to_block(slow);
        self.b.set_cold_block(slow);
        self.put_scratch(0, at);
        for c in components(all(ty)) {
            if let Some(column) = columns[c] {
                self.put_scratch(1 + c, column);
            }
        }
        self.call(exec::scatter as *const (), self.site_of(&mem, ty), self.calls.access, self.mask);
        self.b.ins().jump(after, &[]);
        self.b.switch_to_block(after);
        Ok(())
    }

    fn store_rows(&mut self, columns: &[Option<Simd>; 4], rows: &Rows) {
        let whole = match *columns {
            [Some(a), Some(b), Some(c), Some(d)] => {
                let columns = [a, b, c, d].map(|c| self.bytes(c));
                Some(self.transpose(columns, 15))
            }
            _ => None,
        };
        let bits = self.mask.map(|_| self.mask_bits(self.mask));
        for lane in 0..LANES as usize {
            let next = bits.map(|bits| {
                let [here, next] = [(); 2].map(|()| self.b.create_block());
                let bit = self.b.ins().band_imm_u(bits, 1 << lane);
                self.b.ins().brif(bit, here, &[], next, &[]);
                self.b.switch_to_block(here);
                next
            });
            if let Some(row) = whole.and_then(|whole| whole[lane]) {
                self.b.ins().store(MEM, row, rows.at[lane], rows.offset);
            } else {
                for (c, column) in columns.iter().flatten().enumerate() {
                    let word = self.b.ins().extractlane(*column, lane as u8);
                    self.b.ins().store(MEM, word, rows.at[lane], rows.offset + 4 * c as i32);
                }
            }
            if let Some(next) = next {
                self.b.ins().jump(next, &[]);
                self.b.switch_to_block(next);
            }
        }
    }
}
