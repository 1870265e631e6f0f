//! Jobs in a worker process, so that a driver that crashes or hangs costs one job and not the program.
//!
//! The worker is the program itself, started again: its `main` calls [`serve_if_worker`] first. A test binary has no
//! `main` of its own; there a test of its own does, and the worker is the test binary told to run that one test:
//!
//! ```no_run
//! use xenoglot_vulkan::isolated::{Isolated, WorkerCommand, serve_if_worker};
//!
//! // #[test]
//! fn vulkan_worker() {
//!     serve_if_worker();
//! }
//!
//! // In the other tests:
//! let command = WorkerCommand::this_test("vulkan_worker")?;
//! let mut isolated = Isolated::new(command, Default::default());
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! One worker does many jobs, one after the other. When it dies or gives no answer in time, the job it had gets an
//! error that says how, and the next job a new worker.
//!
//! Requests and answers are lines of JSON on the worker's standard input and output. Answers start with a mark, as
//! drivers and test harnesses print to standard output, too.

use crate::child::{Guarded, NoLine, describe};
use crate::contents::written;
use crate::error::WorkerError;
use crate::{BufferBinding, Device, DeviceInfo, DeviceOptions, Error, Job, RunOutput};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// The environment variable that makes [`serve_if_worker`] serve.
pub const WORKER_VARIABLE: &str = "XENOGLOT_VULKAN_WORKER";

/// What an answer starts with, on a line of its own.
const MARK: &[u8] = b"@xenoglot-vulkan ";

/// The longest answer: a gibibyte of results is two of text.
const LONGEST_ANSWER: u64 = 1 << 32;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Request<J> {
    List,
    Run { options: DeviceOptions, job: J },
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Answer {
    Devices(Result<Vec<DeviceInfo>, Error>),
    Outputs(Result<Vec<RunOutput>, Error>),
}

/// How a worker is started.
#[derive(Debug, Clone)]
pub struct WorkerCommand {
    program: PathBuf,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
}

impl WorkerCommand {
    /// A program that calls [`serve_if_worker`] first of all, given these arguments.
    pub fn new(
        program: impl Into<PathBuf>,
        arguments: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> WorkerCommand {
        let arguments = arguments.into_iter().map(Into::into).collect();
        WorkerCommand { program: program.into(), arguments, environment: Vec::new() }
    }

    /// Sets an environment variable of workers: how drivers are told things.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> WorkerCommand {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// The running program, without arguments.
    ///
    /// # Errors
    /// When the system does not say which file that is.
    pub fn this_program() -> std::io::Result<WorkerCommand> {
        Ok(WorkerCommand::new(std::env::current_exe()?, [""; 0]))
    }

    /// The running test binary, told to run the test with this path (`module::name`), which calls
    /// [`serve_if_worker`].
    ///
    /// # Errors
    /// When the system does not say which file that is.
    pub fn this_test(test: &str) -> std::io::Result<WorkerCommand> {
        Ok(WorkerCommand::new(std::env::current_exe()?, [test, "--exact", "--nocapture", "--test-threads=1"]))
    }
}

/// How jobs are run in workers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IsolatedOptions {
    /// Which device, and how.
    pub device: DeviceOptions,
    /// How long a worker may take for a job with all its runs, starting it, opening the device and compiling the
    /// shader included.
    pub timeout: Duration,
}

impl Default for IsolatedOptions {
    /// [`DeviceOptions::from_env`] and one minute.
    fn default() -> IsolatedOptions {
        IsolatedOptions { device: DeviceOptions::from_env(), timeout: Duration::from_secs(60) }
    }
}

/// Runs jobs in a worker process; see the [module](self).
///
/// Nothing of the safety contract of [`Device::prepare_compute`] is needed here: what an invalid module does to a
/// driver, it does to the worker.
pub struct Isolated {
    command: WorkerCommand,
    options: IsolatedOptions,
    worker: Option<Guarded>,
}

impl Isolated {
    /// The worker is started with the first job.
    pub fn new(command: WorkerCommand, options: IsolatedOptions) -> Isolated {
        Isolated { command, options, worker: None }
    }

    /// How long a worker may take for each job from now on.
    pub fn set_timeout(&mut self, timeout: Duration) {
        self.options.timeout = timeout;
    }

    /// All devices of the host, as a worker sees them.
    ///
    /// # Errors
    /// As for [`Device::list`], and [`Error::Worker`].
    pub fn devices(&mut self) -> Result<Vec<DeviceInfo>, Error> {
        match self.ask(&Request::List)? {
            Answer::Devices(devices) => devices,
            Answer::Outputs(_) => Err(self.protocol("outputs for a question after devices")),
        }
    }

    /// Runs a job; one output for each of its runs.
    ///
    /// # Errors
    /// As for [`Device::open`], [`Device::run_compute`] and [`Device::run_vertex`], and [`Error::Worker`] when the
    /// worker died, gave no answer in time or could not be started. Each error leaves `self` fit for the next job.
    pub fn run(&mut self, job: &Job) -> Result<Vec<RunOutput>, Error> {
        let outputs = match self.ask(&Request::Run { options: self.options.device.clone(), job })? {
            Answer::Outputs(outputs) => outputs,
            Answer::Devices(_) => return Err(self.protocol("devices for a job")),
        };
        match outputs {
            Ok(outputs) if fits(job, &outputs) => Ok(outputs),
            Ok(_) => Err(self.protocol("outputs of other sizes than the job's")),
            Err(error) => {
                // Its device is of no further use, and it may hang in the driver's exit.
                if error.is_fatal() {
                    self.worker = None;
                }
                Err(error)
            }
        }
    }

    fn protocol(&mut self, what: impl Into<String>) -> Error {
        self.worker = None;
        Error::Worker(WorkerError::Protocol(what.into()))
    }

    fn ask(&mut self, request: &Request<&Job>) -> Result<Answer, Error> {
        let mut line = serde_json::to_vec(request).map_err(|error| {
            Error::Worker(WorkerError::Protocol(format!("cannot write the job: {error}")))
        })?;
        line.push(b'\n');
        let worker = match self.worker.take() {
            Some(worker) => worker,
            None => self.start()?,
        };
        worker.write(line);
        let deadline = Instant::now() + self.options.timeout;
        let answer = loop {
            match worker.line(deadline) {
                Ok(line) => match line.strip_prefix(MARK) {
                    Some(answer) => break serde_json::from_slice(answer),
                    None => continue,
                },
                Err(NoLine::Closed) => return Err(Error::Worker(died(worker))),
                Err(NoLine::Timeout) => {
                    let timeout_ms = u64::try_from(self.options.timeout.as_millis()).unwrap_or(u64::MAX);
                    return Err(Error::Worker(WorkerError::Timeout { timeout_ms, stderr: worker.stderr() }));
                }
            }
        };
        let answer = answer.map_err(|error| Error::Worker(WorkerError::Protocol(error.to_string())))?;
        self.worker = Some(worker);
        Ok(answer)
    }

    fn start(&self) -> Result<Guarded, Error> {
        let failed = |reason: String| Error::Worker(WorkerError::Start(reason));
        if std::env::var_os(WORKER_VARIABLE).is_some() {
            return Err(failed("a worker of a program that does not call `serve_if_worker`".to_owned()));
        }
        let mut command = Command::new(&self.command.program);
        command.args(&self.command.arguments).env(WORKER_VARIABLE, "1");
        command.envs(self.command.environment.iter().map(|(name, value)| (name, value)));
        Guarded::start(&mut command, LONGEST_ANSWER)
            .map_err(|error| failed(format!("{}: {error}", self.command.program.display())))
    }
}

fn died(mut worker: Guarded) -> WorkerError {
    let how = match worker.finish() {
        Ok(status) => describe(status),
        Err(error) => format!("cannot tell how: {error}"),
    };
    WorkerError::Died { how, stderr: worker.stderr() }
}

/// Whether the outputs have the numbers and sizes the job asks for.
fn fits(job: &Job, outputs: &[RunOutput]) -> bool {
    let buffers_fit = |buffers: &[BufferBinding], output: &RunOutput| {
        buffers.iter().map(|buffer| buffer.data.len()).eq(output.buffers.iter().map(Vec::len))
    };
    match job {
        Job::Compute(job) => {
            job.runs.len() == outputs.len()
                && job.runs.iter().zip(outputs).all(|(run, output)| buffers_fit(&run.buffers, output))
        }
        Job::Vertex(job) => {
            job.runs.len() == outputs.len()
                && job.runs.iter().zip(outputs).all(|(run, output)| buffers_fit(&run.buffers, output))
        }
        Job::Pipeline(_) => outputs.is_empty(),
        Job::Bindless(job) => {
            let sizes = job.elements.iter().map(|e| e.buffer.data.len());
            let sizes = sizes.chain(job.addressed.iter().map(|a| a.data.len()));
            outputs.len() == 1 && sizes.eq(outputs[0].buffers.iter().map(Vec::len))
        }
        Job::Ray(job) => outputs.len() == 1 && outputs[0].buffers.len() == job.buffers.len(),
        Job::Sample(_) => outputs.len() == 1 && outputs[0].buffers.len() == 1,
        Job::Render(job) => {
            let [output] = outputs else { return false };
            let after = output.buffers.get(job.pipeline.targets.len()..).unwrap_or_default();
            written(&job.pipeline.descriptors, &job.contents).eq(after.iter().map(Vec::len))
        }
        Job::Dispatch(job) => {
            let [output] = outputs else { return false };
            written(&job.descriptors, &job.contents).eq(output.buffers.iter().map(Vec::len))
        }
    }
}

/// In a worker process: does the jobs of the parent and ends the process when there are no more. Anywhere else: does
/// nothing.
///
/// A program that uses [`Isolated`] calls this before anything else.
pub fn serve_if_worker() {
    if std::env::var_os(WORKER_VARIABLE).is_some() {
        std::process::exit(match serve(std::io::stdin().lock(), std::io::stdout().lock()) {
            Ok(()) => 0,
            Err(error) => {
                eprintln!("Vulkan worker: {error}");
                1
            }
        });
    }
}

fn serve(requests: impl BufRead, mut answers: impl Write) -> std::io::Result<()> {
    let mut opened: Option<(DeviceOptions, Device)> = None;
    for line in requests.lines() {
        let answer = match serde_json::from_str::<Request<Job>>(&line?)? {
            Request::List => Answer::Devices(Device::list()),
            Request::Run { options, job } => Answer::Outputs(run(&mut opened, options, &job)),
        };
        let mut text = vec![b'\n'];
        text.extend_from_slice(MARK);
        serde_json::to_writer(&mut text, &answer)?;
        text.push(b'\n');
        answers.write_all(&text)?;
        answers.flush()?;
    }
    Ok(())
}

fn run(
    opened: &mut Option<(DeviceOptions, Device)>,
    options: DeviceOptions,
    job: &Job,
) -> Result<Vec<RunOutput>, Error> {
    let device = match opened {
        Some((of, device)) if *of == options => device,
        _ => {
            let device = Device::open(&options)?;
            &mut opened.insert((options, device)).1
        }
    };
    // SAFETY: nobody vouches for the module's validity. This process exists to be lost to an invalid one: it holds
    // nothing but the job, and the parent takes its answer as untrusted data.
    unsafe {
        match job {
            Job::Compute(job) => device.run_compute(job),
            Job::Vertex(job) => device.run_vertex(job),
            Job::Pipeline(job) => device.build_pipeline(job),
            Job::Render(job) => device.render(job),
            Job::Dispatch(job) => device.dispatch(job),
            Job::Bindless(job) => device.run_bindless(job),
            Job::Ray(job) => device.trace(job),
            Job::Sample(job) => device.sample_frame(job),
        }
    }
}
