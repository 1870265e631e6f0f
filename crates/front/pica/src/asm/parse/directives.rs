//! Directives: procedures and scopes, names of registers, constants, and what goes into the container.

use super::{Parser, Result};
use crate::asm::Reason;
use crate::asm::ast::{ConstantDecl, Field, Gsh, StatementKind, UniformDecl};
use crate::asm::lex::Kind;
use crate::container::{GeometryMode, RegisterFile};

impl<'a> Parser<'a> {
    /// A directive, behind its dot.
    pub(super) fn directive(&mut self) -> Result<StatementKind<'a>> {
        let at = self.at();
        let name = self.ident("a directive")?;
        Ok(match name {
            "proc" => StatementKind::Proc(self.ident("a procedure's name")?),
            "else" => StatementKind::Else,
            "end" => StatementKind::End,
            "alias" => {
                let name = self.ident("an alias")?;
                StatementKind::Alias { name, register: self.reg()? }
            }
            "fvec" => self.uniforms(RegisterFile::Float)?,
            "ivec" => self.uniforms(RegisterFile::Int)?,
            "bool" => self.uniforms(RegisterFile::Bool)?,
            "in" => {
                let at = self.at();
                let (name, count) = (self.name()?, self.size()?.unwrap_or(1));
                let register = if *self.peek() == Kind::End { None } else { Some(self.reg()?) };
                let decls = vec![UniformDecl { at, name, count, register }];
                StatementKind::Uniforms { file: RegisterFile::Input, decls }
            }
            "out" => {
                let name = if self.take('-') { None } else { Some(self.ident("a name or '-'")?) };
                let semantic = self.ident("an output property")?;
                let components = self.components()?;
                let register = if *self.peek() == Kind::End { None } else { Some(self.reg()?) };
                StatementKind::Out { name, semantic, components, register }
            }
            "constf" | "consti" | "constfa" | "setf" | "seti" | "setb" => self.constant(name)?,
            _ => match self.of_container(name)? {
                Some(statement) => statement,
                None => return Err((at, Reason::Directive(name.to_owned()))),
            },
        })
    }

    /// A directive that gives a name or a register a value.
    fn constant(&mut self, directive: &str) -> Result<StatementKind<'a>> {
        Ok(match directive {
            "constf" => {
                let name = self.ident("a name")?;
                StatementKind::Constant { name, value: ConstantDecl::Float(self.vector(Self::float)?) }
            }
            "consti" => {
                let name = self.ident("a name")?;
                StatementKind::Constant { name, value: ConstantDecl::Int(self.int_vector()?) }
            }
            "constfa" if self.is_punct('(') => StatementKind::ConstantItem(self.vector(Self::float)?),
            "constfa" => {
                let name = self.ident("a name")?;
                let size = if *self.peek_at(1) == Kind::Punct(']') {
                    self.want('[', "'['")?;
                    self.want(']', "']'")?;
                    None
                } else {
                    Some(self.size()?.map_or_else(|| self.expected("'['"), Ok)?)
                };
                StatementKind::ConstantArray { name, size }
            }
            "setf" => {
                let register = self.reg()?;
                StatementKind::Set { register, value: ConstantDecl::Float(self.vector(Self::float)?) }
            }
            "seti" => {
                let register = self.reg()?;
                StatementKind::Set { register, value: ConstantDecl::Int(self.int_vector()?) }
            }
            _ => {
                let register = self.reg()?;
                StatementKind::Set { register, value: ConstantDecl::Bool(self.boolean()?) }
            }
        })
    }

    /// A directive about the container or its executable; `None` if there is none of the name.
    fn of_container(&mut self, directive: &str) -> Result<Option<StatementKind<'a>>> {
        Ok(Some(match directive {
            "entry" => {
                let from = self.place()?;
                let to = if self.take(',') { Some(self.place()?) } else { None };
                StatementKind::Entry { from, to }
            }
            "nodvle" => StatementKind::NoDvle,
            "dvle" => StatementKind::Dvle(self.integer()?),
            "gsh" => StatementKind::Gsh(self.gsh()?),
            "vsh" => StatementKind::Vsh,
            "geometry" => {
                let mut values = [self.integer_in("geometry mode", 0, 2)?, 0, 0, 0];
                for value in &mut values[1..] {
                    self.comma()?;
                    *value = self.integer_in("geometry setting", 0, 255)?;
                }
                StatementKind::Geometry(values)
            }
            "merge" => StatementKind::Merge(self.boolean()?),
            "inmask" => StatementKind::Field(Field::InputMask, self.integer_in("mask", 0, 0xffff)?),
            "outmask" => StatementKind::Field(Field::OutputMask, self.integer_in("mask", 0, 0xffff)?),
            "version" => StatementKind::Field(Field::Version, self.integer_in("version", 0, 0xffff)?),
            "dvlpversion" => {
                StatementKind::Field(Field::ProgramVersion, self.integer_in("version", 0, 0xffff_ffff)?)
            }
            "label" => StatementKind::LabelEntry {
                name: self.string()?,
                id: self.integer_in("label number", 0, 0xffff)?,
                address: self.integer_in("address", 0, 0xffff_ffff)?,
                size: self.integer_in("size", 0, 0xffff_ffff)?,
            },
            "filename" => StatementKind::Filename(self.string()?),
            "sourceline" => {
                let file = self.integer_in("file", 0, 0xffff_ffff)?;
                self.comma()?;
                StatementKind::SourceLine { file, line: self.integer_in("line", 0, 0xffff_ffff)? }
            }
            "desc" => {
                let index = self.integer_in("operand descriptor", 0, 4095)?;
                let value = self.integer_in("descriptor bits", 0, 0xffff_ffff)?;
                let tag = match self.peek() {
                    Kind::End => 0,
                    _ => self.integer_in("descriptor bits", 0, 0xffff_ffff)?,
                };
                StatementKind::Descriptor { index, value, tag }
            }
            "word" => StatementKind::Word(self.integer_in("word", 0, 0xffff_ffff)?),
            _ => return Ok(None),
        }))
    }

    fn uniforms(&mut self, file: RegisterFile) -> Result<StatementKind<'a>> {
        let mut decls = Vec::new();
        loop {
            let at = self.at();
            let (name, count) = (self.name()?, self.size()?.unwrap_or(1));
            let register = if self.take('=') { Some(self.reg()?) } else { None };
            decls.push(UniformDecl { at, name, count, register });
            if !self.take(',') {
                return Ok(StatementKind::Uniforms { file, decls });
            }
        }
    }

    fn gsh(&mut self) -> Result<Option<Gsh<'a>>> {
        if *self.peek() == Kind::End {
            return Ok(None);
        }
        let at = self.at();
        let (mode, has_start, has_count) =
            match self.ident("point, variable (subdivision) or fixed (particle)")? {
                "point" => (GeometryMode::Point, false, false),
                "variable" | "subdivision" => (GeometryMode::Variable, false, true),
                "fixed" | "particle" => (GeometryMode::Fixed, true, true),
                other => {
                    let expected = "point, variable (subdivision) or fixed (particle)";
                    return Err((at, Reason::Expected { expected, found: format!("{other:?}") }));
                }
            };
        let first = self.reg()?;
        let start = if has_start { Some(self.reg()?) } else { None };
        let count = if has_count { self.integer_in("vertex count", 0, 255)? } else { 0 };
        Ok(Some(Gsh { mode, first, start, count }))
    }
}
