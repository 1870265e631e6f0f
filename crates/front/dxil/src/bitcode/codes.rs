//! Numbers of blocks, records and operators (LLVM 3.7, `LLVMBitCodes.h` and "LLVM IR Encoding" of BitCodeFormat).

use super::error::{ErrorKind, Step};

/// Blocks.
pub(super) mod block {
    pub const MODULE: u32 = 8;
    pub const PARAMATTR: u32 = 9;
    pub const PARAMATTR_GROUP: u32 = 10;
    pub const CONSTANTS: u32 = 11;
    pub const FUNCTION: u32 = 12;
    pub const VALUE_SYMTAB: u32 = 14;
    pub const METADATA: u32 = 15;
    pub const METADATA_ATTACHMENT: u32 = 16;
    pub const TYPE: u32 = 17;
}

/// Records of the module.
pub(super) mod module {
    pub const VERSION: u32 = 1;
    pub const TRIPLE: u32 = 2;
    pub const DATALAYOUT: u32 = 3;
    pub const GLOBALVAR: u32 = 7;
    pub const FUNCTION: u32 = 8;
    pub const ALIAS: u32 = 9;
}

/// Records of attributes.
pub(super) mod attribute {
    pub const ENTRY: u32 = 2;
    pub const GROUP_ENTRY: u32 = 3;
}

/// Records of types.
pub(super) mod ty {
    pub const NUMENTRY: u32 = 1;
    pub const VOID: u32 = 2;
    pub const FLOAT: u32 = 3;
    pub const DOUBLE: u32 = 4;
    pub const LABEL: u32 = 5;
    pub const OPAQUE: u32 = 6;
    pub const INTEGER: u32 = 7;
    pub const POINTER: u32 = 8;
    pub const HALF: u32 = 10;
    pub const ARRAY: u32 = 11;
    pub const VECTOR: u32 = 12;
    pub const METADATA: u32 = 16;
    pub const STRUCT_ANON: u32 = 18;
    pub const STRUCT_NAME: u32 = 19;
    pub const STRUCT_NAMED: u32 = 20;
    pub const FUNCTION: u32 = 21;
}

/// Records of constants.
pub(super) mod constant {
    pub const SETTYPE: u32 = 1;
    pub const NULL: u32 = 2;
    pub const UNDEF: u32 = 3;
    pub const INTEGER: u32 = 4;
    pub const FLOAT: u32 = 6;
    pub const AGGREGATE: u32 = 7;
    pub const STRING: u32 = 8;
    pub const CSTRING: u32 = 9;
    pub const BINOP: u32 = 10;
    pub const CAST: u32 = 11;
    pub const GEP: u32 = 12;
    pub const SELECT: u32 = 13;
    pub const CMP: u32 = 17;
    pub const INBOUNDS_GEP: u32 = 20;
    pub const DATA: u32 = 22;
}

/// Records of symbol tables.
pub(super) mod symbol {
    pub const ENTRY: u32 = 1;
    pub const BLOCK_ENTRY: u32 = 2;
}

/// Records of metadata.
pub(super) mod metadata {
    pub const STRING: u32 = 1;
    pub const VALUE: u32 = 2;
    pub const NODE: u32 = 3;
    pub const NAME: u32 = 4;
    pub const DISTINCT_NODE: u32 = 5;
    pub const KIND: u32 = 6;
    pub const NAMED_NODE: u32 = 10;
    pub const ATTACHMENT: u32 = 11;
}

/// Records of functions.
pub(super) mod function {
    pub const DECLAREBLOCKS: u32 = 1;
    pub const BINOP: u32 = 2;
    pub const CAST: u32 = 3;
    pub const EXTRACTELT: u32 = 6;
    pub const INSERTELT: u32 = 7;
    pub const SHUFFLEVEC: u32 = 8;
    pub const CMP: u32 = 9;
    pub const RET: u32 = 10;
    pub const BR: u32 = 11;
    pub const SWITCH: u32 = 12;
    pub const UNREACHABLE: u32 = 15;
    pub const PHI: u32 = 16;
    pub const ALLOCA: u32 = 19;
    pub const LOAD: u32 = 20;
    pub const EXTRACTVAL: u32 = 26;
    pub const INSERTVAL: u32 = 27;
    pub const CMP2: u32 = 28;
    pub const VSELECT: u32 = 29;
    pub const DEBUG_LOC_AGAIN: u32 = 33;
    pub const CALL: u32 = 34;
    pub const DEBUG_LOC: u32 = 35;
    pub const FENCE: u32 = 36;
    pub const ATOMICRMW: u32 = 38;
    pub const GEP: u32 = 43;
    pub const STORE: u32 = 44;
    pub const CMPXCHG: u32 = 46;
}

/// An enum of operators by their numbers in records, with their names in LLVM's text.
macro_rules! operators {
    ($(#[$doc:meta])* $name:ident $what:literal { $($(#[$vdoc:meta])* $variant:ident = $number:literal $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum $name { $($(#[$vdoc])* $variant,)+ }

        impl $name {
            /// The operator with a number of a record.
            pub(super) fn from_number(number: u64) -> Step<$name> {
                match number {
                    $($number => Ok($name::$variant),)+
                    other => Err(ErrorKind::malformed($what, other)),
                }
            }

            /// The name in LLVM's text; where integers and floats share an operator, that for integers.
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $text),+ }
            }
        }
    };
}

operators! {
    /// An operation on two values of one type.
    BinaryOp "operator" {
        /// Sum of integers or floats.
        Add = 0 "add",
        /// Difference of integers or floats.
        Sub = 1 "sub",
        /// Product of integers or floats.
        Mul = 2 "mul",
        /// Unsigned quotient.
        Udiv = 3 "udiv",
        /// Signed quotient, or that of floats.
        Sdiv = 4 "sdiv",
        /// Unsigned remainder.
        Urem = 5 "urem",
        /// Signed remainder, or that of floats.
        Srem = 6 "srem",
        /// Left shift.
        Shl = 7 "shl",
        /// Right shift, zeros in.
        Lshr = 8 "lshr",
        /// Right shift, signs in.
        Ashr = 9 "ashr",
        /// Bitwise and.
        And = 10 "and",
        /// Bitwise or.
        Or = 11 "or",
        /// Bitwise exclusive or.
        Xor = 12 "xor",
    }
}

operators! {
    /// A conversion.
    CastOp "conversion" {
        /// Low bits.
        Trunc = 0 "trunc",
        /// Zeros above.
        Zext = 1 "zext",
        /// Signs above.
        Sext = 2 "sext",
        /// Float to unsigned.
        FpToUi = 3 "fptoui",
        /// Float to signed.
        FpToSi = 4 "fptosi",
        /// Unsigned to float.
        UiToFp = 5 "uitofp",
        /// Signed to float.
        SiToFp = 6 "sitofp",
        /// To a smaller float.
        FpTrunc = 7 "fptrunc",
        /// To a larger float.
        FpExt = 8 "fpext",
        /// Pointer to integer.
        PtrToInt = 9 "ptrtoint",
        /// Integer to pointer.
        IntToPtr = 10 "inttoptr",
        /// The same bits.
        Bitcast = 11 "bitcast",
        /// To another address space.
        AddrSpaceCast = 12 "addrspacecast",
    }
}

operators! {
    /// A comparison; ordered ones are false where an operand is a NaN, unordered ones true.
    Predicate "comparison" {
        /// Never.
        False = 0 "false",
        /// Ordered, equal.
        Oeq = 1 "oeq",
        /// Ordered, greater.
        Ogt = 2 "ogt",
        /// Ordered, at least.
        Oge = 3 "oge",
        /// Ordered, less.
        Olt = 4 "olt",
        /// Ordered, at most.
        Ole = 5 "ole",
        /// Ordered, unequal.
        One = 6 "one",
        /// Ordered.
        Ord = 7 "ord",
        /// Unordered.
        Uno = 8 "uno",
        /// Unordered or equal.
        Ueq = 9 "ueq",
        /// Unordered or greater.
        Ugt = 10 "ugt",
        /// Unordered or at least.
        Uge = 11 "uge",
        /// Unordered or less.
        Ult = 12 "ult",
        /// Unordered or at most.
        Ule = 13 "ule",
        /// Unordered or unequal.
        Une = 14 "une",
        /// Always.
        True = 15 "true",
        /// Equal integers.
        IntEq = 32 "eq",
        /// Unequal integers.
        IntNe = 33 "ne",
        /// Unsigned greater.
        IntUgt = 34 "ugt",
        /// Unsigned at least.
        IntUge = 35 "uge",
        /// Unsigned less.
        IntUlt = 36 "ult",
        /// Unsigned at most.
        IntUle = 37 "ule",
        /// Signed greater.
        IntSgt = 38 "sgt",
        /// Signed at least.
        IntSge = 39 "sge",
        /// Signed less.
        IntSlt = 40 "slt",
        /// Signed at most.
        IntSle = 41 "sle",
    }
}

impl Predicate {
    /// Whether it compares integers.
    pub fn is_integer(self) -> bool {
        self as u8 >= Predicate::IntEq as u8
    }

    /// The instruction that compares so: `icmp` or `fcmp`.
    pub fn instruction(self) -> &'static str {
        if self.is_integer() { "icmp" } else { "fcmp" }
    }
}

operators! {
    /// What an atomic access makes of what is in memory.
    RmwOp "atomic operation" {
        /// The operand.
        Xchg = 0 "xchg",
        /// The sum.
        Add = 1 "add",
        /// The difference.
        Sub = 2 "sub",
        /// Bitwise and.
        And = 3 "and",
        /// Its complement.
        Nand = 4 "nand",
        /// Bitwise or.
        Or = 5 "or",
        /// Bitwise exclusive or.
        Xor = 6 "xor",
        /// Signed greatest.
        Max = 7 "max",
        /// Signed least.
        Min = 8 "min",
        /// Unsigned greatest.
        Umax = 9 "umax",
        /// Unsigned least.
        Umin = 10 "umin",
    }
}
