//! The ids of everything: u32 newtypes into dense maps.

use cranelift_entity::entity_impl;

macro_rules! entity {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(u32);
        entity_impl!($name, $prefix);
    };
}

entity! {
    /// A value of a function: a block parameter or an instruction's result.
    Value, "v"
}
entity! {
    /// An instruction of a function.
    Inst, "inst"
}
entity! {
    /// A basic block of a function.
    Block, "block"
}
entity! {
    /// A guest register of a function, typed and mutable; gone after `promote`, but still the name hint of values.
    Slot, "slot"
}
entity! {
    /// A constant in a function's pool.
    Const, "const"
}
entity! {
    /// A function of a module.
    Func, "fn"
}
entity! {
    /// An input or output variable of a module.
    Var, "var"
}
entity! {
    /// A resource of a module: buffer, texture, sampler, image.
    Resource, "res"
}
