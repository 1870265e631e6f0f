//! Accesses to raw and structured buffers that are bound as buffers of texels, a word each
//! ([`Target::Texels`](crate::binding::Target::Texels)).

use super::bind::Element;
use super::bytes::Access;
use super::cx::Cx;
use super::ops::image_atomic;
use super::{Lift, Stop};
use xenoglot_ir::imm::{Dim, TexInfo};
use xenoglot_ir::module::ResourceKind;
use xenoglot_ir::{Flags, Imm, Kind, Op, Resource, Type, Value};

const WORDS: Imm = Imm::Tex(TexInfo::new(Dim::Buffer, false, false));

impl Cx<'_> {
    pub(super) fn access_words(
        &mut self,
        resource: Resource,
        element: Option<Element>,
        access: Access,
        values: &[Value],
    ) -> Lift<Option<Value>> {
        let Access { op, offset, ty, .. } = access;
        let (texels, kind) = self.words(resource, element);
        let (one, two) = (self.i32(1), self.i32(2));
        let index = self.op(Op::Ushr, &[offset, two]);
        let bytes = ty.bytes().unwrap_or(0);
        let of = |value: Option<&Value>| value.copied().ok_or(Stop::Unsupported("an operand is missing"));
        match (op, bytes) {
            (Op::Load, 4) => {
                let word = self.word(texels, kind, index);
                Ok(Some(self.cast(word, ty)))
            }
            (Op::Load, 8) => {
                let next = self.op(Op::Iadd, &[index, one]);
                let words = [index, next].map(|at| self.word(texels, kind, at));
                let both = self.op(Op::Build, &words);
                Ok(Some(self.cast(both, ty)))
            }
            (Op::Load, 2) => {
                let word = self.word(texels, kind, index);
                let (three, high) = (self.i32(3), self.op(Op::And, &[offset, two]));
                let from = self.op(Op::Shl, &[high, three]);
                let word = self.op(Op::Ushr, &[word, from]);
                let half = self.resize(word, Type::scalar(Kind::I16));
                Ok(Some(self.cast(half, ty)))
            }
            (Op::Store, 4) if kind == Kind::Img => {
                let word = self.cast(of(values.first())?, Type::I32);
                self.store_word(texels, index, word);
                Ok(None)
            }
            (Op::Store, 8) if kind == Kind::Img => {
                let words = self.cast(of(values.first())?, Type::I32X2);
                let next = self.op(Op::Iadd, &[index, one]);
                for (lane, at) in [(0, index), (1, next)] {
                    let word = self.b.extract(words, lane);
                    self.store_word(texels, at, word);
                }
                Ok(None)
            }
            (op, 4) if kind == Kind::Img && ty == Type::I32 => {
                let op = image_atomic(op).ok_or(Stop::Unsupported("its kind"))?;
                let args: Vec<Value> = [texels, index].iter().chain(values).copied().collect();
                Ok(Some(self.inst(op, WORDS, &args, ty)))
            }
            _ => Err(Stop::Unsupported("an access to a buffer of texels")),
        }
    }

    /// Bytes of a buffer of words.
    pub(super) fn size_of_words(&mut self, resource: Resource, element: Option<Element>) -> Value {
        let (texels, kind) = self.words(resource, element);
        let op = if kind == Kind::Img { Op::ImgQuery } else { Op::TexQuerySize };
        let words = self.inst(op, WORDS, &[texels], Type::I32);
        let two = self.i32(2);
        self.op(Op::Shl, &[words, two])
    }

    /// The handle of a buffer of words, and its kind: an image where it may be written.
    fn words(&mut self, resource: Resource, element: Option<Element>) -> (Value, Kind) {
        let kind = match self.ir.resources[resource].kind {
            ResourceKind::Image { .. } => Kind::Img,
            _ => Kind::Tex,
        };
        let (flags, index) = (Element::flags(element), element.map(|e| e.index));
        let imm = Imm::Resource(resource);
        let inst = self.b.inst(Op::ResourceHandle, flags, imm, index.as_slice(), &[Type::scalar(kind)]);
        (self.b.func.results(inst)[0], kind)
    }

    fn word(&mut self, texels: Value, kind: Kind, index: Value) -> Value {
        let op = if kind == Kind::Img { Op::ImgLoad } else { Op::TexFetch };
        let texel = self.inst(op, WORDS, &[texels, index], Type::I32X4);
        self.b.extract(texel, 0)
    }

    fn store_word(&mut self, texels: Value, index: Value, word: Value) {
        let texel = self.inst(Op::Splat, Imm::None, &[word], Type::I32X4);
        self.b.inst(Op::ImgStore, Flags::NONE, WORDS, &[texels, index, texel], &[]);
    }
}
