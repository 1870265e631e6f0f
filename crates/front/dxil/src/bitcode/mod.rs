//! LLVM bitcode as DXIL uses it.
