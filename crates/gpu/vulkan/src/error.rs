//! What can go wrong between a SPIR-V module and its results.

use crate::{BufferKind, Stage};
use ash::vk;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Why a device could not be opened or a job not be run.
///
/// Serialisable, because a worker process hands it to its parent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Error {
    /// The host has no Vulkan loader, or a loader without a usable driver.
    #[error("no Vulkan on this host: {0}")]
    NoVulkan(String),
    /// No device's name contains the selector, or there is no device at all.
    #[error("no Vulkan device matches {selector:?}; available: {available:?}")]
    NoDevice {
        /// What was asked for.
        selector: Option<String>,
        /// The names of the devices there are.
        available: Vec<String>,
    },
    /// The device lacks something that the job needs.
    #[error("the device lacks {0}")]
    Unsupported(String),
    /// The words are not a SPIR-V module this crate can read the interface of.
    #[error("malformed SPIR-V at word {word}: {reason}")]
    Module {
        /// Index of the first word of the offending instruction.
        word: usize,
        /// What is wrong with it.
        reason: Cow<'static, str>,
    },
    /// The module has no such entry point for this stage.
    #[error("no {stage} entry point {entry:?}; available: {available:?}")]
    NoEntry {
        /// The name that was asked for.
        entry: String,
        /// The stage that was asked for.
        stage: Stage,
        /// The module's entry points of that stage.
        available: Vec<String>,
    },
    /// The module uses a buffer that the run does not bring.
    #[error("the module's {kind} buffer at set {set}, binding {binding} is not bound")]
    MissingBinding {
        /// Descriptor set.
        set: u32,
        /// Binding in the set.
        binding: u32,
        /// What the module declares there.
        kind: BufferKind,
    },
    /// The run brings a uniform buffer where the module has a storage buffer, or the reverse.
    #[error("set {set}, binding {binding} is a {declared} buffer in the module, bound as a {bound} buffer")]
    BindingKind {
        /// Descriptor set.
        set: u32,
        /// Binding in the set.
        binding: u32,
        /// What the module declares.
        declared: BufferKind,
        /// What the run brings.
        bound: BufferKind,
    },
    /// The run brings two buffers for one binding.
    #[error("set {set}, binding {binding} is bound twice")]
    DuplicateBinding {
        /// Descriptor set.
        set: u32,
        /// Binding in the set.
        binding: u32,
    },
    /// A vertex input of the module has no values, or not one for each vertex.
    #[error("the vertex input at location {location} has {got} values for {vertices} vertices")]
    VertexInput {
        /// The input's location.
        location: u32,
        /// How many values the run brings.
        got: usize,
        /// How many vertices it draws.
        vertices: u32,
    },
    /// The entry point captures nothing: it lacks the `Xfb` execution mode, or no output is decorated `XfbBuffer`.
    #[error("the entry point captures no output by transform feedback")]
    NothingCaptured,
    /// A size or count is beyond what the device or this crate allows.
    #[error("{what} is {size}, the limit is {limit}")]
    TooLarge {
        /// What is too large, with its unit.
        what: String,
        /// Its size.
        size: u64,
        /// The largest allowed.
        limit: u64,
    },
    /// A Vulkan command failed.
    #[error("{call} failed: {result}")]
    Vulkan {
        /// The command.
        call: String,
        /// The name of its `VkResult`.
        result: String,
    },
    /// The device did not finish within [`crate::DeviceOptions::timeout_ms`]. The device object is unusable from then
    /// on.
    #[error("the device did not finish within {0} ms")]
    Timeout(u64),
    /// An earlier job never finished, so the device cannot take another.
    #[error("the device is stuck in an earlier job")]
    Stuck,
    /// The validation layer reported errors (see [`crate::DeviceOptions::validation`]).
    #[error("validation: {}", .0.join("\n"))]
    Validation(Vec<String>),
    /// The worker process failed in a way that is not the job's answer.
    #[error("worker process: {0}")]
    Worker(WorkerError),
}

/// How a worker process failed (see [`crate::isolated`]).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum WorkerError {
    /// It could not be started.
    #[error("cannot start: {0}")]
    Start(String),
    /// It ended while it had a job.
    #[error("died ({how}); its last words: {stderr}")]
    Died {
        /// The signal's name or the exit code.
        how: String,
        /// The end of what it wrote to standard error.
        stderr: String,
    },
    /// It gave no answer in time and was killed.
    #[error("no answer within {timeout_ms} ms, killed; its last words: {stderr}")]
    Timeout {
        /// The limit.
        timeout_ms: u64,
        /// The end of what it wrote to standard error.
        stderr: String,
    },
    /// It answered something that is not an answer, or not to this job.
    #[error("unreadable answer: {0}")]
    Protocol(String),
}

impl Error {
    /// Whether the device that gave this error can take no further job.
    pub(crate) fn is_fatal(&self) -> bool {
        match self {
            Error::Timeout(_) | Error::Stuck => true,
            Error::Vulkan { result, .. } => *result == vk_name(vk::Result::ERROR_DEVICE_LOST),
            _ => false,
        }
    }
}

fn vk_name(result: vk::Result) -> String {
    format!("{result:?}")
}

/// Names the command in the error of a Vulkan call: `unsafe { f() }.named("vkF")?`.
pub(crate) trait Named<T> {
    fn named(self, call: &str) -> Result<T, Error>;
}

impl<T> Named<T> for Result<T, vk::Result> {
    fn named(self, call: &str) -> Result<T, Error> {
        self.map_err(|result| Error::Vulkan { call: call.to_owned(), result: vk_name(result) })
    }
}
