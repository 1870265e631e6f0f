//! Texels of an element of an array of textures or images, in what naga reads. Its reader knows the type of an image that is a
//! variable or a parameter, but not that of an array's element. So a function takes the element as a parameter and reads or writes
//! the texel.

use super::Words;
use crate::unit::{Id, Unit};
use smallvec::SmallVec;
use spirv::{FunctionControl, Op as S};
use xenoglot_ir::Type;

impl Unit {
    /// Calls a function that consists of one instruction on an image. `words` are the operands of the instruction: as many as there
    /// are `types`, the image first, then the mask of optional operands and the optional operands themselves, which are integers.
    /// `result` is the type of its result, if it has one.
    pub(super) fn texel_of_element(
        &mut self,
        op: S,
        result: Option<Id>,
        types: &[Id],
        words: &[u32],
    ) -> Option<Id> {
        let (fixed, optional) = words.split_at_checked(types.len())?;
        let (mask, optional) =
            optional.split_first().map_or((None, optional), |(mask, rest)| (Some(*mask), rest));
        let (void, integer) = (self.void(), self.ty(Type::I32));
        let mut signature: Words =
            [result.unwrap_or(void)].into_iter().chain(types.iter().copied()).collect();
        signature.extend(optional.iter().map(|_| integer));
        let function_type = self.type_of(S::TypeFunction, &signature);
        let key: Words =
            [S::Function as u32, op as u32, mask.unwrap_or_default(), function_type].into_iter().collect();
        let function = match self.interned.get(&key) {
            Some(&function) => function,
            None => {
                let function = self.texel_function(op, &signature, function_type, (types.len(), mask));
                self.interned.insert(key, function);
                function
            }
        };
        let arguments: Words = [function].iter().chain(fixed).chain(optional).copied().collect();
        let made = self.op_raw_of(S::FunctionCall, signature[0], &arguments);
        result.map(|_| made)
    }

    fn texel_function(
        &mut self,
        op: S,
        signature: &[Id],
        function_type: Id,
        (fixed, mask): (usize, Option<u32>),
    ) -> Id {
        let body = std::mem::take(&mut self.code);
        let function = self.op_raw(S::Function, signature[0], &[FunctionControl::NONE.bits(), function_type]);
        let parameters: SmallVec<[Id; 6]> =
            signature[1..].iter().map(|&ty| self.op_raw(S::FunctionParameter, ty, &[])).collect();
        let label = self.id();
        self.effect(S::Label, &[label]);
        let (fixed, optional) = parameters.split_at(fixed);
        let operands: Words = fixed.iter().copied().chain(mask).chain(optional.iter().copied()).collect();
        if op == S::ImageWrite {
            self.effect_of(op, &operands);
            self.effect(S::Return, &[]);
        } else {
            let texel = self.op_raw_of(op, signature[0], &operands);
            self.effect(S::ReturnValue, &[texel]);
        }
        self.effect(S::FunctionEnd, &[]);
        self.functions.append(&mut self.code);
        self.code = body;
        function
    }
}
