//! Vectors: splat, build, extract, insert, shuffle, select.

use super::{Made, Shape};
use crate::error::Reason;
use crate::unit::{Id, Unit};
use smallvec::SmallVec;
use spirv::Op as S;
use xenoglot_ir::{Imm, Op};

const SHAPE: Reason = Reason::Invalid("operands of a vector op");

impl Unit {
    pub(super) fn vector(&mut self, shape: &Shape, args: &[Id]) -> Made {
        let ty = shape.ty;
        Ok(match (shape.op, shape.imm, args) {
            (Op::Splat, _, &[a]) => self.spread(ty, a),
            (Op::Build, _, parts) => self.op_of(S::CompositeConstruct, ty, parts),
            (Op::Extract, Imm::Lane(_), &[a]) if shape.arg(0).is_scalar() => a,
            (Op::Extract, Imm::Lane(lane), &[a]) => self.op(S::CompositeExtract, ty, &[a, u32::from(lane)]),
            (Op::Insert, Imm::Lane(_), &[_, s]) if ty.is_scalar() => s,
            (Op::Insert, Imm::Lane(lane), &[v, s]) => {
                self.op(S::CompositeInsert, ty, &[s, v, u32::from(lane)])
            }
            (Op::Shuffle, Imm::Lanes(lanes), &[a, b]) => {
                let from = shape.arg(0);
                let place = |lane: u8| if lane < 4 { (a, lane, 0) } else { (b, lane - 4, from.lanes()) };
                match *lanes.as_slice() {
                    [lane] if from.is_scalar() => place(lane).0,
                    [lane] => {
                        let (v, lane, _) = place(lane);
                        self.op(S::CompositeExtract, ty, &[v, u32::from(lane)])
                    }
                    ref lanes if from.is_scalar() => {
                        let parts: SmallVec<[Id; 4]> = lanes.iter().map(|&l| place(l).0).collect();
                        self.op_of(S::CompositeConstruct, ty, &parts)
                    }
                    ref lanes => {
                        let mut words: SmallVec<[u32; 6]> = SmallVec::from_slice(&[a, b]);
                        words.extend(lanes.iter().map(|&l| {
                            let (_, lane, base) = place(l);
                            u32::from(lane + base)
                        }));
                        self.op_of(S::VectorShuffle, ty, &words)
                    }
                }
            }
            (Op::Select, _, &[c, a, b]) => self.select(ty, shape.arg(0), c, a, b),
            _ => return Err(SHAPE),
        })
    }
}
