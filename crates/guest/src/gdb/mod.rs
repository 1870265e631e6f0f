//! A server for the debugger gdb, as an engine: it interprets a program, and stops it where the debugger says.
//!
//! The debugger sees one processor: the thread that is running. It stops before the first instruction, at breakpoints, after
//! steps, at accesses that a watchpoint is of, and at instructions that do not complete, before the kernel hears of those:
//! when the debugger lets the program go on with the signal, the kernel does.
//!
//! ```no_run
//! use std::net::TcpListener;
//! use xenoglot_guest::gdb::Debugged;
//!
//! let (connection, _) = TcpListener::bind("127.0.0.1:1234")?.accept()?;
//! let engine = Debugged::new(connection)?;
//! # drop(engine);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod target;

use crate::cpu::{Cpu, reg};
use crate::engine::{Cause, Engine, Event};
use crate::interp::Interpreter;
use crate::memory::Memory;
use gdbstub::common::Signal;
use gdbstub::conn::ConnectionExt;
use gdbstub::stub::state_machine::GdbStubStateMachine;
use gdbstub::stub::{GdbStub, SingleThreadStopReason};
use std::net::TcpStream;
use target::{Debuggee, Mode};
use thiserror::Error;

/// Steps between looks at what the debugger sends.
const SLICE: u32 = 4096;
/// `exit_group`, after which nothing is left to debug.
const EXIT_GROUP: u32 = 4246;

/// Why there is no session with a debugger.
#[derive(Debug, Error)]
pub enum GdbError {
    /// The connection cannot be used.
    #[error("the connection to gdb: {0}")]
    Io(#[from] std::io::Error),
    /// The protocol was not kept to.
    #[error("the session with gdb: {0}")]
    Session(String),
}

type Stub = GdbStubStateMachine<'static, Debuggee, TcpStream>;

/// An engine under the control of a debugger. When that leaves, the program runs on.
pub struct Debugged {
    stub: Option<Stub>,
    target: Debuggee,
    interpreter: Interpreter,
    /// What happened and was told to the debugger, but not to the kernel yet.
    held: Option<Event>,
    /// A step over a system call ends when the kernel has answered.
    stepped: bool,
}

impl std::fmt::Debug for Debugged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Debugged").field("connected", &self.stub.is_some()).finish_non_exhaustive()
    }
}

/// What came of some steps.
enum Advance {
    /// Nothing the debugger waits for.
    Nothing,
    Stop(SingleThreadStopReason<u32>),
    Event(Event),
}

/// The debugger's word for an instruction that did not complete.
fn signal(cause: Cause) -> Signal {
    match cause {
        Cause::Memory(fault) if fault.kind == crate::memory::FaultKind::Unaligned => Signal::SIGBUS,
        Cause::Memory(_) => Signal::SIGSEGV,
        Cause::Overflow | Cause::Float => Signal::SIGFPE,
        Cause::Trap(_) | Cause::Break(_) => Signal::SIGTRAP,
        Cause::Reserved(_) => Signal::SIGILL,
    }
}

impl Debugged {
    /// An engine for a debugger that has connected.
    ///
    /// # Errors
    /// When the connection cannot be used.
    pub fn new(connection: TcpStream) -> Result<Debugged, GdbError> {
        connection.set_nodelay(true)?;
        let mut target = Debuggee::default();
        let stub = GdbStub::new(connection).run_state_machine(&mut target);
        let stub = stub.map_err(|e| GdbError::Session(e.to_string()))?;
        Ok(Debugged {
            stub: Some(stub),
            target,
            interpreter: Interpreter::default(),
            held: None,
            stepped: false,
        })
    }

    /// Runs a program that the debugger let go.
    fn advance(&mut self, fuel: &mut u64) -> Advance {
        // What is under the program counter when it goes on does not stop it again.
        let mut first = std::mem::take(&mut self.target.resumed);
        for _ in 0..SLICE {
            if self.target.memory.is_stale() {
                self.interpreter.forget(&self.target.memory.take_stale());
            }
            if *fuel == 0 {
                return Advance::Event(Event::OutOfFuel);
            }
            let pc = self.target.cpu.pc;
            if !first && self.target.breakpoints.contains(&pc) {
                return Advance::Stop(SingleThreadStopReason::SwBreak(()));
            }
            first = false;
            let watched = self.target.watched();
            let (cpu, memory) = (&mut self.target.cpu, &mut self.target.memory);
            if let Some(event) = self.interpreter.step(cpu, memory, fuel) {
                return Advance::Event(event);
            }
            if let Some((kind, addr)) = watched {
                return Advance::Stop(SingleThreadStopReason::Watch { tid: (), kind, addr });
            }
            if self.target.mode == Mode::Step {
                return Advance::Stop(SingleThreadStopReason::DoneStep);
            }
        }
        Advance::Nothing
    }

    /// Serves the debugger until something happens that the kernel has to know.
    fn serve(&mut self, fuel: &mut u64) -> Result<Event, GdbError> {
        let lost = |e: &dyn std::fmt::Display| GdbError::Session(e.to_string());
        loop {
            let Some(stub) = self.stub.take() else {
                return Ok(self.interpreter.run(&mut self.target.cpu, &mut self.target.memory, fuel));
            };
            let next = match stub {
                GdbStubStateMachine::Idle(mut stub) => {
                    let byte = stub.borrow_conn().read()?;
                    stub.incoming_data(&mut self.target, byte).map_err(|e| lost(&e))?
                }
                GdbStubStateMachine::Running(mut stub) => {
                    if let Some(held) = self.held.take()
                        && self.target.signal.take().is_some()
                    {
                        self.stub = Some(stub.into());
                        return Ok(held);
                    }
                    if std::mem::take(&mut self.stepped) {
                        let done = SingleThreadStopReason::DoneStep;
                        stub.report_stop(&mut self.target, done).map_err(|e| lost(&e))?
                    } else if stub.borrow_conn().peek()?.is_some() {
                        let byte = stub.borrow_conn().read()?;
                        stub.incoming_data(&mut self.target, byte).map_err(|e| lost(&e))?
                    } else {
                        let reason = match self.advance(fuel) {
                            Advance::Nothing => {
                                self.stub = Some(stub.into());
                                continue;
                            }
                            Advance::Stop(reason) => reason,
                            Advance::Event(Event::Exception(exception)) => {
                                self.held = Some(Event::Exception(exception));
                                SingleThreadStopReason::Signal(signal(exception.cause))
                            }
                            Advance::Event(event) => {
                                let cpu = &self.target.cpu;
                                let ends = event == Event::Syscall && cpu.get(reg::V0) == EXIT_GROUP;
                                let code = cpu.get(reg::A0) as u8;
                                self.stub = match ends {
                                    true => {
                                        let exited = SingleThreadStopReason::Exited(code);
                                        Some(
                                            stub.report_stop(&mut self.target, exited)
                                                .map_err(|e| lost(&e))?,
                                        )
                                    }
                                    false => Some(stub.into()),
                                };
                                self.stepped = event == Event::Syscall && self.target.mode == Mode::Step;
                                return Ok(event);
                            }
                        };
                        stub.report_stop(&mut self.target, reason).map_err(|e| lost(&e))?
                    }
                }
                GdbStubStateMachine::CtrlCInterrupt(stub) => {
                    let reason = SingleThreadStopReason::Signal(Signal::SIGINT);
                    stub.interrupt_handled(&mut self.target, Some(reason)).map_err(|e| lost(&e))?
                }
                GdbStubStateMachine::Disconnected(_) => continue,
            };
            self.stub = Some(next);
        }
    }
}

impl Engine for Debugged {
    fn run(&mut self, cpu: &mut Cpu, memory: &mut Memory, fuel: &mut u64) -> Event {
        if self.stub.is_none() {
            return self.interpreter.run(cpu, memory, fuel);
        }
        self.target.cpu.clone_from(cpu);
        std::mem::swap(&mut self.target.memory, memory);
        let event = self.serve(fuel).unwrap_or_else(|error| {
            // The debugger is gone; the program goes on without.
            tracing::warn!(%error, "gdb");
            self.interpreter.run(&mut self.target.cpu, &mut self.target.memory, fuel)
        });
        std::mem::swap(&mut self.target.memory, memory);
        cpu.clone_from(&self.target.cpu);
        event
    }
}
