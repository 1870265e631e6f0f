//! Programs compiled on a thread of their own, so that no draw waits for them.

use super::native::{Compiled, compile};
use super::program::{Program, Shader};
use rustc_hash::FxHashSet;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use xenoglot_native::Compiler;

/// Programs that wait at most: a guest can make new ones faster than they compile.
const WAITING: usize = 256;

/// A thread that compiles, from the first program on until this is dropped.
#[derive(Default)]
pub(super) struct Background {
    line: Option<Line>,
    waiting: FxHashSet<Shader>,
}

struct Line {
    jobs: Sender<Arc<Program>>,
    done: Receiver<(Shader, Compiled)>,
}

impl Line {
    fn start() -> Option<Line> {
        let (jobs, todo) = channel::<Arc<Program>>();
        let (results, done) = channel();
        let work = move || {
            let Ok(mut compiler) = Compiler::new() else { return };
            // Nobody listens any more when the engine is gone.
            for program in todo {
                let compiled = compile(&mut compiler, &program);
                if results.send((program.shader.clone(), compiled)).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new().name("shader compiler".into()).spawn(work).ok()?;
        Some(Line { jobs, done })
    }
}

impl Background {
    /// Whether the shader's program is being compiled.
    pub fn has(&self, shader: &Shader) -> bool {
        self.waiting.contains(shader)
    }

    /// Has a program compiled, unless too many wait already.
    pub fn begin(&mut self, program: &Arc<Program>) {
        if self.waiting.len() >= WAITING || self.has(&program.shader) {
            return;
        }
        if self.line.is_none() {
            self.line = Line::start();
        }
        if let Some(line) = &self.line
            && line.jobs.send(program.clone()).is_ok()
        {
            self.waiting.insert(program.shader.clone());
        }
    }

    /// What was compiled since the last call.
    pub fn finished(&mut self) -> Vec<(Shader, Compiled)> {
        if self.waiting.is_empty() {
            return Vec::new();
        }
        let finished: Vec<_> = self.line.iter().flat_map(|line| line.done.try_iter()).collect();
        for (shader, _) in &finished {
            self.waiting.remove(shader);
        }
        finished
    }
}
