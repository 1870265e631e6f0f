//! HLSL's syntax: clauses separated by commas, fields that have their default left out.

use super::*;
use std::fmt::{self, Display, Formatter, Write};

impl Display for RootSignature {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let mut clauses = Clauses { f, first: true };
        if !self.flags.is_empty() {
            clauses.next()?;
            write!(clauses.f, "RootFlags({})", Flags(self.flags))?;
        }
        for parameter in &self.parameters {
            clauses.next()?;
            print_parameter(clauses.f, parameter)?;
        }
        for sampler in &self.samplers {
            clauses.next()?;
            print_sampler(clauses.f, sampler)?;
        }
        Ok(())
    }
}

struct Clauses<'a, 'b> {
    f: &'a mut Formatter<'b>,
    first: bool,
}

impl Clauses<'_, '_> {
    fn next(&mut self) -> fmt::Result {
        let separator = if self.first { "" } else { ", " };
        self.first = false;
        self.f.write_str(separator)
    }
}

/// Names between bars; bits without a name as a number, which no compiler takes.
struct Flags<T>(T);

impl<T: bitflags::Flags<Bits = u32> + Copy> Display for Flags<T> {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let mut rest = self.0.bits();
        let mut separator = "";
        for (name, flag) in self.0.iter_names() {
            write!(f, "{separator}{name}")?;
            rest &= !flag.bits();
            separator = " | ";
        }
        match rest {
            0 => Ok(()),
            rest => write!(f, "{separator}{rest:#x}"),
        }
    }
}

fn print_parameter(f: &mut Formatter, parameter: &Parameter) -> fmt::Result {
    match &parameter.kind {
        ParameterKind::Constants { register, count } => {
            write!(f, "RootConstants(num32BitConstants={count}, b{}", register.number)?;
            print_space(f, *register)?;
        }
        ParameterKind::Descriptor { class, register, flags } => {
            write!(f, "{}({}{}", class.name(), class.letter(), register.number)?;
            print_space(f, *register)?;
            print_flags(f, *flags)?;
        }
        ParameterKind::Table(ranges) => {
            f.write_str("DescriptorTable(")?;
            for (i, range) in ranges.iter().enumerate() {
                f.write_str(if i == 0 { "" } else { ", " })?;
                print_range(f, range)?;
            }
        }
    }
    print_visibility(f, parameter.visibility)?;
    f.write_char(')')
}

fn print_space(f: &mut Formatter, register: Register) -> fmt::Result {
    match register.space {
        0 => Ok(()),
        space => write!(f, ", space={space}"),
    }
}

fn print_flags<T: bitflags::Flags<Bits = u32> + Copy>(f: &mut Formatter, flags: T) -> fmt::Result {
    if flags.is_empty() { Ok(()) } else { write!(f, ", flags={}", Flags(flags)) }
}

fn print_visibility(f: &mut Formatter, visibility: Visibility) -> fmt::Result {
    match visibility {
        Visibility::All => Ok(()),
        visibility => write!(f, ", visibility={}", visibility.name()),
    }
}

fn print_range(f: &mut Formatter, range: &Range) -> fmt::Result {
    write!(f, "{}({}{}", range.class.name(), range.class.letter(), range.register.number)?;
    match range.count {
        1 => {}
        Range::UNBOUNDED => f.write_str(", numDescriptors=unbounded")?,
        count => write!(f, ", numDescriptors={count}")?,
    }
    print_space(f, range.register)?;
    if range.offset != Range::APPEND {
        write!(f, ", offset={}", range.offset)?;
    }
    print_flags(f, range.flags)?;
    f.write_char(')')
}

fn print_sampler(f: &mut Formatter, sampler: &StaticSampler) -> fmt::Result {
    let default = StaticSampler::new(sampler.register);
    write!(f, "StaticSampler(s{}", sampler.register.number)?;
    if sampler.filter != default.filter {
        write!(f, ", filter={}", sampler.filter.name())?;
    }
    for (axis, address, default) in
        ["U", "V", "W"].into_iter().zip(sampler.address).zip(default.address).map(|((a, b), c)| (a, b, c))
    {
        if address != default {
            write!(f, ", address{axis}={}", address.name())?;
        }
    }
    print_float(f, "mipLODBias", sampler.mip_lod_bias, default.mip_lod_bias)?;
    if sampler.max_anisotropy != default.max_anisotropy {
        write!(f, ", maxAnisotropy={}", sampler.max_anisotropy)?;
    }
    if sampler.comparison != default.comparison {
        write!(f, ", comparisonFunc={}", sampler.comparison.name())?;
    }
    if sampler.border != default.border {
        write!(f, ", borderColor={}", sampler.border.name())?;
    }
    print_float(f, "minLOD", sampler.min_lod, default.min_lod)?;
    print_float(f, "maxLOD", sampler.max_lod, default.max_lod)?;
    print_space(f, sampler.register)?;
    print_visibility(f, sampler.visibility)?;
    print_flags(f, sampler.flags)?;
    f.write_char(')')
}

/// Digits that say the float exactly; infinities and NaN, which no compiler takes, as Rust prints them.
fn print_float(f: &mut Formatter, name: &str, value: f32, default: f32) -> fmt::Result {
    if value.to_bits() == default.to_bits() { Ok(()) } else { write!(f, ", {name}={value:?}") }
}
