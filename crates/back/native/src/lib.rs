//! IR to native code with Cranelift: one lane per invocation, several invocations at once.
#![deny(missing_docs)]
