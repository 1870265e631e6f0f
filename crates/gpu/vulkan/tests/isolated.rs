//! Workers: that they give what a device of this process gives, and what their deaths look like from outside.

mod common;

use common::{DOUBLE, compute_run, device, glsl, storage, words};
use std::path::PathBuf;
use std::time::Duration;
use xenoglot_vulkan::isolated::{Isolated, IsolatedOptions, WorkerCommand, serve_if_worker};
use xenoglot_vulkan::{ComputeJob, DeviceOptions, Error, Job, WorkerError, glslang};

/// What the workers of the other tests run.
#[test]
fn vulkan_worker() {
    serve_if_worker();
}

fn worker() -> WorkerCommand {
    WorkerCommand::this_test("vulkan_worker").unwrap()
}

fn double(spirv: &[u32], value: u32) -> Job {
    let runs = vec![compute_run(vec![storage(0, &[value; 4])], 1)];
    Job::Compute(ComputeJob { spirv: spirv.to_vec(), entry: "main".to_owned(), runs })
}

/// A worker that runs a line of shell first; the line can start the real one by `worker`.
#[cfg(unix)]
fn shell(line: &str) -> WorkerCommand {
    let test = std::env::current_exe().unwrap();
    let script = format!(
        "worker() {{ exec '{}' vulkan_worker --exact --nocapture --test-threads=1; }}\n{line}",
        test.display()
    );
    WorkerCommand::new("sh", ["-c".to_owned(), script])
}

#[test]
fn one_worker_does_many_jobs_and_survives_their_errors() {
    let (Some(_), Some(spirv)) = (device(), glsl(DOUBLE, glslang::Stage::Compute)) else { return };
    let mut isolated = Isolated::new(worker(), IsolatedOptions::default());
    assert!(!isolated.devices().unwrap().is_empty());
    for value in 0..3 {
        let outputs = isolated.run(&double(&spirv, value)).unwrap();
        assert_eq!(words(&outputs[0].buffers[0]), [2 * value; 4]);
        let error = isolated.run(&double(&spirv[..20], value)).unwrap_err();
        assert!(matches!(error, Error::Module { .. }), "{error}");
    }
}

#[test]
fn a_shader_that_never_ends_costs_one_job() {
    const ENDLESS_IF_ZERO: &str = "#version 450
        layout(set = 0, binding = 0) buffer Data { uint data[]; };
        void main() { do { atomicAdd(data[1], 2u); } while (data[0] == 0u); }";
    let Some(spirv) = glsl(ENDLESS_IF_ZERO, glslang::Stage::Compute) else { return };
    match device() {
        Some(device) if device.info().kind == xenoglot_vulkan::DeviceKind::Cpu => {}
        Some(_) => {
            return xenoglot_testgen::skip("an endless shader would stop the screen of a GPU that shows one");
        }
        None => return,
    }
    let device = DeviceOptions { timeout_ms: 200, ..DeviceOptions::from_env() };
    let mut isolated = Isolated::new(worker(), IsolatedOptions { device, ..IsolatedOptions::default() });
    assert_eq!(isolated.run(&double(&spirv, 0)), Err(Error::Timeout(200)));
    let outputs = isolated.run(&double(&spirv, 1)).unwrap();
    assert_eq!(words(&outputs[0].buffers[0]), [1, 3, 1, 1]);
}

#[cfg(unix)]
#[test]
fn the_signal_that_killed_a_worker_is_named_and_the_next_job_gets_a_new_one() {
    let Some(spirv) = glsl(DOUBLE, glslang::Stage::Compute) else { return };
    let mark = Mark::new();
    // The first worker crashes on its first request, all later ones are real.
    let line = format!(
        "if mkdir '{}'; then read -r request; echo oh no >&2; kill -SEGV $$; fi; worker",
        mark.0.display()
    );
    let mut isolated = Isolated::new(shell(&line), IsolatedOptions::default());
    match isolated.run(&double(&spirv, 1)) {
        Err(Error::Worker(WorkerError::Died { how, stderr })) => {
            assert!(how.contains("SIGSEGV"), "{how}");
            assert_eq!(stderr, "oh no");
        }
        other => panic!("{other:?}"),
    }
    if device().is_some() {
        let outputs = isolated.run(&double(&spirv, 1)).unwrap();
        assert_eq!(words(&outputs[0].buffers[0]), [2; 4]);
    }
}

#[cfg(unix)]
#[test]
fn a_worker_without_an_answer_is_killed_even_when_it_does_not_read() {
    let timeout = Duration::from_millis(300);
    let options = IsolatedOptions { timeout, ..IsolatedOptions::default() };
    let mut isolated = Isolated::new(shell("echo busy >&2; exec sleep 600"), options);
    // More than a pipe holds.
    let job = double(&vec![0; 1 << 20], 1);
    let expected = WorkerError::Timeout { timeout_ms: 300, stderr: "busy".to_owned() };
    assert_eq!(isolated.run(&job), Err(Error::Worker(expected)));
}

#[cfg(unix)]
#[test]
fn answers_that_are_none_are_errors() {
    let job = double(&[], 1);
    let run = |line: &str| Isolated::new(shell(line), IsolatedOptions::default()).run(&job);
    let protocol = |answer| matches!(answer, Err(Error::Worker(WorkerError::Protocol(_))));
    assert!(protocol(run("echo chatter; echo '@xenoglot-vulkan {'; read -r request")));
    // Well-formed, but not an answer to a job; and one without its run.
    assert!(protocol(run(r#"echo '@xenoglot-vulkan {"devices":{"Ok":[]}}'; read -r request"#)));
    assert!(protocol(run(r#"echo '@xenoglot-vulkan {"outputs":{"Ok":[]}}'; read -r request"#)));
    match run("exit 3") {
        Err(Error::Worker(WorkerError::Died { how, .. })) => assert!(how.contains('3'), "{how}"),
        other => panic!("{other:?}"),
    }
    let mut absent =
        Isolated::new(WorkerCommand::new("/no/such/program", [""; 0]), IsolatedOptions::default());
    assert!(matches!(absent.run(&job), Err(Error::Worker(WorkerError::Start(_)))));
}

/// A path nothing is at yet, removed at the end.
struct Mark(PathBuf);

impl Mark {
    fn new() -> Mark {
        Mark(std::env::temp_dir().join(format!("xenoglot-vulkan-test-{}", std::process::id())))
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}
