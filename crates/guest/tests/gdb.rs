//! The server for gdb, by its protocol over a loopback socket, and by gdb itself where that knows MIPS.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread::JoinHandle;
use xenoglot_guest::gdb::Debugged;
use xenoglot_guest::memory::{Memory, Rights};
use xenoglot_guest::{Cpu, Engine, Event, reg};
use xenoglot_mips::Endian;

const CODE: u32 = 0x40_0000;
const DATA: u32 = 0x50_0000;

/// Counts to five at the beginning of the data, and ends.
const WORDS: [u32; 9] = [
    0x3c08_0050, // lui t0, 0x50
    0x2402_0005, // li v0, 5
    0x8d09_0000, // loop: lw t1, 0(t0)
    0x2529_0001, // addiu t1, t1, 1
    0xad09_0000, // sw t1, 0(t0)
    0x1522_fffc, // bne t1, v0, loop
    0x0000_1821, // move v1, zero
    0x2402_1096, // li v0, 4246
    0x0000_000c, // syscall
];

/// A program that waits for a debugger at an address.
fn program(endian: Endian) -> (std::net::SocketAddr, JoinHandle<(Event, Cpu)>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let thread = std::thread::spawn(move || {
        let (connection, _) = listener.accept().expect("a debugger");
        let mut engine = Debugged::new(connection).expect("a session");
        let mut memory = Memory::new(1 << 20);
        memory.map(CODE, 0x1000, Rights::READ.and(Rights::EXECUTE));
        memory.map(DATA, 0x1000, Rights::READ.and(Rights::WRITE));
        let bytes = |word: u32| match endian {
            Endian::Big => word.to_be_bytes(),
            Endian::Little => word.to_le_bytes(),
        };
        let code: Vec<u8> = WORDS.into_iter().flat_map(bytes).collect();
        memory.poke(CODE, &code).expect("mapped");
        let mut cpu = Cpu::new(endian);
        cpu.pc = CODE;
        let mut fuel = 1_000_000;
        let event = engine.run(&mut cpu, &mut memory, &mut fuel);
        (event, cpu)
    });
    (address, thread)
}

/// The other side of the protocol.
struct Debugger(TcpStream);

impl Debugger {
    fn send(&mut self, text: &str) {
        let sum = text.bytes().fold(0u8, u8::wrapping_add);
        self.0.write_all(format!("${text}#{sum:02x}").as_bytes()).expect("connected");
    }

    fn byte(&mut self) -> u8 {
        let mut byte = [0];
        self.0.read_exact(&mut byte).expect("connected");
        byte[0]
    }

    /// The next answer, with repetitions written out.
    fn answer(&mut self) -> String {
        while self.byte() != b'$' {}
        let mut text: Vec<u8> = Vec::new();
        loop {
            match self.byte() {
                b'#' => break,
                b'*' => {
                    let count = self.byte() - 29;
                    let last = *text.last().expect("something to repeat");
                    text.extend(std::iter::repeat_n(last, count.into()));
                }
                byte => text.push(byte),
            }
        }
        let _sum = [self.byte(), self.byte()];
        self.0.write_all(b"+").expect("connected");
        String::from_utf8(text).expect("text")
    }

    fn ask(&mut self, text: &str) -> String {
        self.send(text);
        self.answer()
    }

    /// A register by its number, as the guest's bytes.
    fn register(&mut self, number: usize) -> String {
        self.ask("g")[8 * number..8 * number + 8].into()
    }
}

const PC: usize = 37;

#[test]
fn breakpoints_steps_registers_memory_and_watchpoints() {
    for endian in [Endian::Big, Endian::Little] {
        let word = |value: u32| match endian {
            Endian::Big => format!("{value:08x}"),
            Endian::Little => format!("{:08x}", value.swap_bytes()),
        };
        let (address, thread) = program(endian);
        let mut gdb = Debugger(TcpStream::connect(address).expect("a program"));
        assert!(gdb.ask("qSupported:swbreak+;hwbreak+").contains("PacketSize"));
        assert!(gdb.ask("qXfer:features:read:target.xml:0,ffb").contains("org.gnu.gdb.mips.cpu"));
        assert!(gdb.ask("?").starts_with(['S', 'T']));
        assert_eq!(gdb.register(PC), word(CODE));
        // A step, and what it did.
        assert!(gdb.ask("vCont;s:1").starts_with(['S', 'T']));
        assert_eq!((gdb.register(PC), gdb.register(8)), (word(CODE + 4), word(DATA)));
        // A breakpoint behind the load, twice: it holds again after going on from it.
        assert_eq!(gdb.ask(&format!("Z0,{:x},4", CODE + 12)), "OK");
        for count in 0..2 {
            let stop = gdb.ask("vCont;c");
            assert!(stop.starts_with("T05") && stop.contains("swbreak"), "{stop}");
            assert_eq!((gdb.register(PC), gdb.register(9)), (word(CODE + 12), word(count)));
        }
        assert_eq!(gdb.ask(&format!("z0,{:x},4", CODE + 12)), "OK");
        // Memory, and what is none.
        assert_eq!(gdb.ask(&format!("m{DATA:x},4")), word(1));
        assert!(gdb.ask("m10,4").starts_with('E'));
        assert_eq!(gdb.ask(&format!("M{DATA:x},4:{}", word(3))), "OK");
        assert_eq!(gdb.ask(&format!("m{DATA:x},4")), word(3));
        // A store that is watched: the program had loaded 1 before memory was changed.
        assert_eq!(gdb.ask(&format!("Z2,{DATA:x},4")), "OK");
        let stop = gdb.ask("vCont;c");
        assert!(stop.starts_with("T05") && stop.contains("watch:"), "{stop}");
        assert_eq!(gdb.register(PC), word(CODE + 20));
        assert_eq!(gdb.ask(&format!("m{DATA:x},4")), word(2));
        assert_eq!(gdb.ask(&format!("z2,{DATA:x},4")), "OK");
        // A register is changed, which ends the loop.
        let mut all = gdb.ask("g");
        all.replace_range(8 * 2..8 * 3, &word(2));
        assert_eq!(gdb.ask(&format!("G{all}")), "OK");
        // To the end.
        assert!(gdb.ask("vCont;c").starts_with('W'));
        let (event, cpu) = thread.join().expect("no panic");
        assert_eq!(event, Event::Syscall);
        assert_eq!((cpu.get(reg::V0), cpu.get(9)), (4246, 2));
    }
}

#[test]
fn a_program_without_its_debugger_runs_on() {
    let (address, thread) = program(Endian::Big);
    drop(TcpStream::connect(address).expect("a program"));
    let (event, cpu) = thread.join().expect("no panic");
    assert_eq!((event, cpu.get(9)), (Event::Syscall, 5));
}

#[test]
fn faults_are_told_first() {
    let (address, thread) = program(Endian::Big);
    let mut gdb = Debugger(TcpStream::connect(address).expect("a program"));
    // The data is elsewhere, where there is nothing.
    let mut all = gdb.ask("g");
    all.replace_range(8 * 8..8 * 9, "00000000");
    assert!(gdb.ask("vCont;s:1").starts_with(['S', 'T']));
    let mut after = gdb.ask("g");
    after.replace_range(8 * 8..8 * 9, &all[8 * 8..8 * 9]);
    assert_eq!(gdb.ask(&format!("G{after}")), "OK");
    assert!(gdb.ask("vCont;c").starts_with("S0b"));
    // With the signal, the kernel gets it.
    gdb.send("vCont;C0b");
    let (event, cpu) = thread.join().expect("no panic");
    assert!(matches!(event, Event::Exception(_)), "{event:?}");
    assert_eq!(cpu.pc, CODE + 8);
}

#[test]
fn gdb_itself() {
    if Command::new("gdb-multiarch").arg("--version").stdout(Stdio::null()).status().is_err() {
        return xenoglot_testgen::skip::skip("there is no gdb-multiarch");
    }
    let (address, thread) = program(Endian::Big);
    let connect = format!("target remote {address}");
    let at = format!("break *{:#x}", CODE + 20);
    let commands = [
        "set architecture mips",
        "set endian big",
        &connect,
        &at,
        "continue",
        "print/x $t1",
        "x/1xw 0x500000",
        "stepi",
        "continue",
        "delete",
        "continue",
    ];
    let mut gdb = Command::new("gdb-multiarch");
    gdb.args(["-batch", "-nx"]);
    for command in &commands {
        gdb.args(["-ex", command]);
    }
    let output = gdb.stderr(Stdio::null()).output().expect("gdb starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("$1 = 0x1"), "{text}");
    assert!(text.contains("0x500000:\t0x00000001"), "{text}");
    let (event, cpu) = thread.join().expect("no panic");
    assert_eq!((event, cpu.get(9)), (Event::Syscall, 5), "{text}");
}
