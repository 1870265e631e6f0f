//! Types, names, values and constants as text.

use super::Out;
use super::metadata::Numbers;
use super::slots::{Name, Slots};
use crate::bitcode::{Constant, Def, Module, Type, TypeId, Value, ValueId};
use std::fmt::{self, Write};

/// Types or constants within each other that are printed; what is deeper is left out.
const MAX_DEPTH: u32 = 32;

/// Where text goes.
pub(super) struct Printer<'m> {
    pub module: &'m Module,
    pub numbers: &'m Numbers,
    out: String,
    limit: usize,
    depth: u32,
}

impl Write for Printer<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.out.len() + text.len() > self.limit {
            return Err(fmt::Error);
        }
        self.out.push_str(text);
        Ok(())
    }
}

impl<'m> Printer<'m> {
    pub fn new(module: &'m Module, numbers: &'m Numbers, limit: usize) -> Printer<'m> {
        Printer { module, numbers, out: String::new(), limit, depth: 0 }
    }

    pub fn finish(self) -> String {
        self.out
    }

    /// Pads the current line to a column.
    pub fn pad(&mut self, column: usize) -> Out {
        let line = self.out.len() - self.out.rfind('\n').map_or(0, |at| at + 1);
        let width = column.saturating_sub(line).max(1);
        write!(self, "{:width$}", "")
    }

    fn deeper(&mut self, f: impl FnOnce(&mut Self) -> Out) -> Out {
        if self.depth == MAX_DEPTH {
            return write!(self, "…");
        }
        self.depth += 1;
        let done = f(self);
        self.depth -= 1;
        done
    }

    /// Characters of a name or text; all but printable ones by their numbers.
    pub fn escaped(&mut self, text: &[u8]) -> Out {
        for &c in text {
            match c {
                b'"' | b'\\' => write!(self, "\\{c:02X}")?,
                b' '..=b'~' => write!(self, "{}", char::from(c))?,
                _ => write!(self, "\\{c:02X}")?,
            }
        }
        Ok(())
    }

    fn name(&mut self, sigil: char, name: &[u8]) -> Out {
        let plain = |c: &u8| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'.' | b'_');
        let quoted = name.is_empty() || name[0].is_ascii_digit() || !name.iter().all(plain);
        let quote = if quoted { "\"" } else { "" };
        write!(self, "{sigil}{quote}")?;
        self.escaped(name)?;
        write!(self, "{quote}")
    }

    /// A name of a function; those of types are alike.
    pub fn local_name(&mut self, name: &[u8]) -> Out {
        self.name('%', name)
    }

    /// A name of the module, or a number where there is none.
    pub fn global_name(&mut self, name: &[u8], number: u32) -> Out {
        match name {
            [] => write!(self, "@{number}"),
            name => self.name('@', name),
        }
    }

    pub fn fields(&mut self, packed: bool, fields: &[TypeId]) -> Out {
        let (open, close) = if packed { ("<{", "}>") } else { ("{", "}") };
        if fields.is_empty() {
            return write!(self, "{open}{close}");
        }
        write!(self, "{open} ")?;
        self.types(fields)?;
        write!(self, " {close}")
    }

    fn types(&mut self, types: &[TypeId]) -> Out {
        for (n, &ty) in types.iter().enumerate() {
            write!(self, "{}", if n == 0 { "" } else { ", " })?;
            self.ty(ty)?;
        }
        Ok(())
    }

    pub fn ty(&mut self, id: TypeId) -> Out {
        let module = self.module;
        match module.types.get(id) {
            None => write!(self, "?"),
            Some(Type::Void) => write!(self, "void"),
            Some(Type::Half) => write!(self, "half"),
            Some(Type::Float) => write!(self, "float"),
            Some(Type::Double) => write!(self, "double"),
            Some(Type::Label) => write!(self, "label"),
            Some(Type::Metadata) => write!(self, "metadata"),
            Some(Type::Integer(bits)) => write!(self, "i{bits}"),
            Some(Type::Opaque { name } | Type::Struct { name: Some(name), .. }) => {
                self.local_name(name.as_bytes())
            }
            Some(ty) => self.deeper(|p| p.composite(ty)),
        }
    }

    fn composite(&mut self, ty: &Type) -> Out {
        match ty {
            Type::Pointer { to, space } => {
                self.ty(*to)?;
                match space {
                    0 => write!(self, "*"),
                    space => write!(self, " addrspace({space})*"),
                }
            }
            Type::Array { count, of } => {
                write!(self, "[{count} x ")?;
                self.ty(*of)?;
                write!(self, "]")
            }
            Type::Vector { count, of } => {
                write!(self, "<{count} x ")?;
                self.ty(*of)?;
                write!(self, ">")
            }
            Type::Struct { packed, fields, .. } => self.fields(*packed, fields),
            Type::Function { returns, params, variadic } => {
                self.ty(*returns)?;
                write!(self, " (")?;
                self.types(params)?;
                match (variadic, params.is_empty()) {
                    (true, true) => write!(self, "...)"),
                    (true, false) => write!(self, ", ...)"),
                    (false, _) => write!(self, ")"),
                }
            }
            _ => Ok(()),
        }
    }

    /// A value's name, or a constant.
    pub fn value(&mut self, slots: Option<&Slots<'_>>, id: ValueId) -> Out {
        let module = self.module;
        let Some(value) = module.value(slots.map(Slots::body), id) else { return write!(self, "?") };
        match &value.def {
            Def::Global(index) => {
                let name = module.globals.get(*index as usize).map_or(&[][..], |g| &g.name);
                self.global_name(name, *index)
            }
            Def::Function(index) => {
                let name = module.functions.get(*index as usize).map_or(&[][..], |f| &f.name);
                self.global_name(name, *index)
            }
            Def::Constant(constant) => self.deeper(|p| p.constant(slots, value, constant)),
            Def::Argument(_) | Def::Inst(_) => self.local(slots, id),
        }
    }

    /// The name of a value of a function.
    pub fn local(&mut self, slots: Option<&Slots<'_>>, id: ValueId) -> Out {
        match slots.and_then(|s| s.value(id)) {
            Some(Name::Text(name)) => self.local_name(name),
            Some(Name::Number(n)) => write!(self, "%{n}"),
            None => write!(self, "%?"),
        }
    }

    /// A value with its type.
    pub fn typed(&mut self, slots: Option<&Slots<'_>>, id: ValueId) -> Out {
        if let Some(value) = self.module.value(slots.map(Slots::body), id) {
            self.ty(value.ty)?;
            write!(self, " ")?;
        }
        self.value(slots, id)
    }

    pub fn typed_list(&mut self, slots: Option<&Slots<'_>>, ids: &[ValueId]) -> Out {
        for (n, &id) in ids.iter().enumerate() {
            write!(self, "{}", if n == 0 { "" } else { ", " })?;
            self.typed(slots, id)?;
        }
        Ok(())
    }

    fn constant(&mut self, slots: Option<&Slots<'_>>, value: &Value, constant: &Constant) -> Out {
        let ty = self.module.types.get(value.ty);
        match constant {
            Constant::Undef => write!(self, "undef"),
            Constant::Null => match ty {
                Some(Type::Integer(1)) => write!(self, "false"),
                Some(Type::Integer(_)) => write!(self, "0"),
                Some(Type::Pointer { .. }) => write!(self, "null"),
                Some(Type::Half | Type::Float | Type::Double) => self.scalar(value.ty, 0),
                _ => write!(self, "zeroinitializer"),
            },
            Constant::Integer(bits) | Constant::Float(bits) => self.scalar(value.ty, *bits),
            Constant::Aggregate(members) => {
                let (open, close) = brackets(ty);
                write!(self, "{open}")?;
                self.typed_list(slots, members)?;
                write!(self, "{close}")
            }
            Constant::Data(data) => {
                let (open, close) = brackets(ty);
                let of = self.module.types.member(value.ty, 0).unwrap_or(value.ty);
                write!(self, "{open}")?;
                for (n, &bits) in data.iter().enumerate() {
                    write!(self, "{}", if n == 0 { "" } else { ", " })?;
                    self.ty(of)?;
                    write!(self, " ")?;
                    self.scalar(of, bits)?;
                }
                write!(self, "{close}")
            }
            Constant::Binary(op, args) => {
                write!(self, "{} (", op.name())?;
                self.typed_list(slots, args)?;
                write!(self, ")")
            }
            Constant::Cast(op, arg) => {
                write!(self, "{} (", op.name())?;
                self.typed(slots, *arg)?;
                write!(self, " to ")?;
                self.ty(value.ty)?;
                write!(self, ")")
            }
            Constant::Gep { inbounds, of, operands } => {
                write!(self, "getelementptr {}(", if *inbounds { "inbounds " } else { "" })?;
                self.ty(*of)?;
                write!(self, ", ")?;
                self.typed_list(slots, operands)?;
                write!(self, ")")
            }
            Constant::Select(args) => {
                write!(self, "select (")?;
                self.typed_list(slots, args)?;
                write!(self, ")")
            }
            Constant::Compare(predicate, args) => {
                write!(self, "{} {} (", predicate.instruction(), predicate.name())?;
                self.typed_list(slots, args)?;
                write!(self, ")")
            }
        }
    }

    /// A number: floats as decimals where six digits tell them, else the bits as a double's.
    fn scalar(&mut self, ty: TypeId, bits: u64) -> Out {
        match self.module.types.get(ty) {
            Some(Type::Integer(1)) => write!(self, "{}", bits & 1 != 0),
            Some(&Type::Integer(width)) => {
                let shift = 64 - width.clamp(1, 64);
                write!(self, "{}", (bits << shift) as i64 >> shift)
            }
            Some(Type::Half) => write!(self, "0xH{bits:04X}"),
            Some(Type::Float) => self.float(f64::from(f32::from_bits(bits as u32))),
            Some(Type::Double) => self.float(f64::from_bits(bits)),
            _ => write!(self, "{bits:#x}"),
        }
    }

    fn float(&mut self, v: f64) -> Out {
        let text = format!("{v:.6e}");
        if v.is_finite()
            && text.parse() == Ok(v)
            && let Some((mantissa, exponent)) = text.split_once('e')
        {
            let (sign, digits) = match exponent.strip_prefix('-') {
                Some(digits) => ('-', digits),
                None => ('+', exponent),
            };
            return write!(self, "{mantissa}e{sign}{digits:0>2}");
        }
        write!(self, "0x{:X}", v.to_bits())
    }
}

fn brackets(ty: Option<&Type>) -> (&'static str, &'static str) {
    match ty {
        Some(Type::Array { .. }) => ("[", "]"),
        Some(Type::Vector { .. }) => ("<", ">"),
        Some(Type::Struct { packed: true, .. }) => ("<{ ", " }>"),
        _ => ("{ ", " }"),
    }
}
