use super::*;

const EXIT: u64 = 0xe300_0000_0007_000f;
const NOP: u64 = 0x50b0_0000_0007_0f00;
const SYNC: u64 = 0xf0f8_0000_0007_000f;
const BRK: u64 = 0xe340_0000_0007_000f;
const RET: u64 = 0xe320_0000_0007_000f;

/// The bits that make P0 the guard.
const IF_P0: u64 = 0x7_0000;

/// The bits of an offset from the next word.
fn to(from: u32, target: u32) -> u64 {
    u64::from(target.wrapping_sub(from + WORD) & 0xff_ffff) << 20
}

fn bra(from: u32, target: u32) -> u64 {
    0xe240_0000_0007_000f | to(from, target)
}

fn ssy(from: u32, target: u32) -> u64 {
    0xe290_0000_0000_0000 | to(from, target)
}

fn pbk(from: u32, target: u32) -> u64 {
    0xe2a0_0000_0000_0000 | to(from, target)
}

fn cal(from: u32, target: u32) -> u64 {
    0xe260_0000_0000_0040 | to(from, target)
}

/// Explores words at addresses; the others are EXITs, those of scheduling words zeros.
fn flow(words: &[(u32, u64)]) -> Result<Flow, FlowError> {
    let limits = Limits { max_nodes: 1000, max_depth: 8 };
    explore(&code(words), 0, Known::default(), limits)
}

fn code(words: &[(u32, u64)]) -> Vec<u8> {
    let at = |address| words.iter().find(|w| w.0 == address).map_or(EXIT, |w| w.1);
    (0..32).flat_map(|i| if is_control(i * WORD) { 0 } else { at(i * WORD) }.to_le_bytes()).collect()
}

/// Addresses in the order control goes through them, taken ways first, up to the end or a repetition.
fn path(flow: &Flow, take: bool) -> Vec<u32> {
    let mut addresses = Vec::new();
    let mut at = Target::Node(0);
    while let Target::Node(id) = at {
        let node = &flow.nodes[id as usize];
        if addresses.contains(&node.inst.address) {
            break;
        }
        addresses.push(node.inst.address);
        at = match node.exit {
            Exit::Always(target) => target,
            Exit::If(yes, no) => {
                if take {
                    yes
                } else {
                    no
                }
            }
            Exit::Table { otherwise, .. } => otherwise,
            Exit::Push { to, .. } => to,
        };
    }
    addresses
}

#[test]
fn entry_and_targets_on_scheduling_words_mean_the_next() {
    let f = flow(&[(0x08, bra(0x08, 0x40))]).unwrap();
    assert_eq!(path(&f, true), [0x08, 0x48]);
}

#[test]
fn pops_go_to_what_was_pushed() {
    let words = [(0x08, ssy(0x08, 0x68)), (0x10, SYNC & !IF_P0), (0x18, NOP), (0x28, SYNC)];
    let f = flow(&words).unwrap();
    assert_eq!(path(&f, true), [0x08, 0x10, 0x68]);
    assert_eq!(path(&f, false), [0x08, 0x10, 0x18, 0x28, 0x68]);
    assert_eq!(f.nodes.len(), 5);
}

#[test]
fn breaks_leave_what_was_pushed_inside() {
    let words =
        [(0x08, pbk(0x08, 0x68)), (0x10, ssy(0x10, 0x48)), (0x18, BRK & !IF_P0), (0x28, SYNC), (0x48, BRK)];
    let f = flow(&words).unwrap();
    assert_eq!(path(&f, true), [0x08, 0x10, 0x18, 0x68]);
    assert_eq!(path(&f, false), [0x08, 0x10, 0x18, 0x28, 0x48, 0x68]);
}

#[test]
fn calls_are_inlined_and_return_to_their_callers() {
    let words = [(0x08, cal(0x08, 0x68)), (0x10, cal(0x10, 0x68)), (0x18, RET), (0x68, NOP), (0x70, RET)];
    let f = flow(&words).unwrap();
    let addresses: Vec<u32> = f.nodes.iter().map(|n| n.inst.address).collect();
    assert_eq!(addresses, [0x08, 0x68, 0x70, 0x10, 0x68, 0x70, 0x18]);
    assert_eq!(f.nodes[6].exit, Exit::Always(Target::End)); // nobody called
}

#[test]
fn an_entry_that_a_loop_leaves_behind_does_not_pile_up() {
    // Each round pushes, and goes round without popping.
    let words = [(0x08, NOP), (0x10, ssy(0x10, 0x68)), (0x18, bra(0x18, 0x08) & !IF_P0), (0x28, SYNC)];
    let f = flow(&words).unwrap();
    assert_eq!(f.contexts, 2);
    assert_eq!(path(&f, false), [0x08, 0x10, 0x18, 0x28, 0x68]);
}

#[test]
fn a_pop_of_nothing_ends_the_invocation() {
    // As where the stack is data.
    let f = flow(&[(0x08, pbk(0x08, 0x68)), (0x10, SYNC)]).unwrap();
    assert_eq!(f.nodes[1].exit, Exit::Always(Target::End));
    let limits = Limits { max_nodes: 1000, max_depth: 0 };
    let f = explore(&code(&[(0x08, pbk(0x08, 0x68)), (0x10, SYNC)]), 0, Known::default(), limits).unwrap();
    assert_eq!(f.nodes[2].exit, Exit::Always(Target::Pop(Kind::Sync)));
}

#[test]
fn recursion_makes_the_stack_data() {
    let f = flow(&[(0x08, cal(0x08, 0x08)), (0x10, RET)]).unwrap();
    assert_eq!(f.entries, [(Kind::Call, Target::Node(1))]);
    assert_eq!(f.nodes[0].exit, Exit::Push { entry: 0, to: Target::Node(0) });
    assert_eq!(f.nodes[1].exit, Exit::Always(Target::Pop(Kind::Return)));
}

#[test]
fn what_is_wrong_has_an_address() {
    let outside = flow(&[(0x08, bra(0x08, 0x1000))]);
    assert_eq!(outside.unwrap_err(), FlowError::Outside { from: 0x08, to: 0x1000 });
    assert!(matches!(flow(&[(0x08, u64::MAX)]), Err(FlowError::Decode(_))));
}

#[test]
fn jump_tables_are_bounded_by_the_index() {
    // LOP32I.AND R0, R4, 0x1; SHL R7, R0, 0x2; LDC R7, c[0x2][R7]; BRX R7 with base 0.
    let brx = 0xe250_0000_0007_070f | to(0x28, 0);
    let words = [
        (0x08, 0x0400_0000_0017_0400),
        (0x10, 0x3848_0000_0027_0007),
        (0x18, 0xef94_0020_0007_0707),
        (0x28, brx),
    ];
    let data: Vec<u8> = [0x48u32, 0x68, 0x88, 0xa8].iter().flat_map(|v| v.to_le_bytes()).collect();
    let bank = ConstantBank { bank: 2, data: &data };
    let targets = |words: &[(u32, u64)]| {
        let flow = explore(&code(words), 0, Known { constants: &[bank], functions: &[] }, Limits::default())
            .unwrap();
        let table = flow.nodes.iter().find_map(|n| match &n.exit {
            Exit::Table { cases, .. } => Some(cases.iter().map(|c| c.0).collect::<Vec<u32>>()),
            _ => None,
        });
        table.unwrap()
    };
    assert_eq!(targets(&words), [0x48, 0x68]);
    let unbounded = [(0x08, NOP), words[1], words[2], words[3]];
    assert_eq!(targets(&unbounded), [0x48, 0x68, 0x88, 0xa8]);
    let unknown = explore(&code(&words), 0, Known::default(), Limits::default());
    assert_eq!(unknown.unwrap_err(), FlowError::Indirect { address: 0x28 });
}
