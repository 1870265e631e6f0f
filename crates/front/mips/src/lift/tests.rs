use super::{Code, Options, Region, lift};
use crate::inst::Endian;
use xenoglot_ir::text::canonical;
use xenoglot_ir::verify;

const PC: u32 = 0x40_0000;

/// Words at [`PC`], and data at 0x1000.
struct Words<'a>(&'a [u32], &'a [u32]);

impl Code for Words<'_> {
    fn instruction(&self, pc: u32) -> Option<u32> {
        self.0.get((pc.wrapping_sub(PC) / 4) as usize).copied()
    }

    fn data(&self, address: u32) -> Option<u32> {
        self.1.get((address.wrapping_sub(0x1000) / 4) as usize).copied()
    }
}

/// The region of words at [`PC`], verified.
fn region(words: &[u32], max_insts: u32) -> Region {
    with_data(words, &[], max_insts)
}

fn with_data(words: &[u32], data: &[u32], max_insts: u32) -> Region {
    let options = Options { endian: Endian::Big, max_insts, gp: Some(0x1000) };
    let region = lift(&Words(words, data), PC, &options);
    verify(&region.module).expect("a sound module");
    region
}

#[test]
fn jump_tables_are_part_of_the_region() {
    // sll v0,a0,2; lui v1,0; addu v1,v1,v0; lw v0,0x1000(v1); jr v0; nop; jr ra; nop; li v0,1; jr ra; nop
    let words = [
        0x0004_1080,
        0x3c03_0000,
        0x0062_1821,
        0x8c62_1000,
        0x0040_0008,
        0,
        0x03e0_0008,
        0,
        0x2402_0001,
        0x03e0_0008,
        0,
    ];
    let found = with_data(&words, &[PC + 24, PC + 32, PC + 24, 0], 100);
    assert_eq!(found.words.len(), words.len());
    let t = text(&found);
    assert!(
        t.contains(&format!("{:#x}: block", PC + 24)) || t.contains(&format!("{}: block", PC + 24)),
        "{t}"
    );
    // Position independent: lw v1,0(gp); addu v0,v1,v0; lw v0,0(v0); addu v0,v0,gp; jr v0; nop; two targets
    let words = [0x8f83_0000, 0x0062_1021, 0x8c42_0000, 0x005c_1021, 0x0040_0008, 0, 0x03e0_0008, 0];
    let data = [0x1004, (PC + 24).wrapping_sub(0x1000), 1];
    assert_eq!(with_data(&words, &data, 100).words.len(), words.len());
}

fn text(region: &Region) -> String {
    canonical(&region.module).to_string()
}

#[test]
fn a_loop_counts_and_looks_at_its_fuel() {
    // addiu v0,v0,-1; bnez v0,.-4; nop; jr ra; nop
    let region = region(&[0x2442_ffff, 0x1440_fffe, 0, 0x03e0_0008, 0], 100);
    assert_eq!(region.entries, [PC]);
    assert_eq!(region.words.len(), 5);
    let text = text(&region);
    assert!(text.contains("slot r2 : i32 home 8"), "{text}");
    // At the entry and at the edge back.
    assert_eq!(text.matches("icmp.sle").count(), 2, "{text}");
    assert_eq!(text.matches("tail_call_guest").count(), 1, "{text}");
}

#[test]
fn a_slot_is_executed_before_its_branch_and_skipped_by_likely_ones() {
    // beq a0,zero,.+12; move a0,a1 (in the slot); nop; nop; syscall
    let ordinary = region(&[0x1080_0003, 0x00a0_2021, 0, 0, 0xc], 100);
    // The branch looks at a0 as it was: the compare comes before the slot's write.
    let t = text(&ordinary);
    assert!(t.find("icmp.eq").expect("compare") < t.find("slot_set r4").expect("write"), "{t}");
    assert_eq!(t.matches("slot_set r4").count(), 1, "{t}");
    // beql: the write is on one way only, in a block of its own.
    let likely = region(&[0x5080_0003, 0x00a0_2021, 0, 0, 0xc], 100);
    let t = text(&likely);
    assert!(t.find("branch").expect("branch") < t.find("slot_set r4").expect("write"), "{t}");
}

#[test]
fn calls_are_left_and_come_back_at_an_entry() {
    // jal PC + 0x100; nop; jr ra; nop
    let region = region(&[0x0c10_0040, 0, 0x03e0_0008, 0], 100);
    assert_eq!(region.entries, [PC, PC + 8]);
    let text = text(&region);
    assert!(text.contains("const 0x400008") || text.contains(&format!("const {}", PC + 8)), "{text}");
    assert_eq!(text.matches("tail_call_guest").count(), 2, "{text}");
    assert!(text.contains("switch"), "{text}");
}

/// Code in which another region begins at an address.
struct Beside<'a>(Words<'a>, u32);

impl Code for Beside<'_> {
    fn instruction(&self, pc: u32) -> Option<u32> {
        self.0.instruction(pc)
    }

    fn data(&self, address: u32) -> Option<u32> {
        self.0.data(address)
    }

    fn has_region(&self, pc: u32) -> bool {
        pc == self.1
    }
}

/// What runs into the other region from above has its instructions, too, but cannot be entered there.
#[test]
fn where_another_region_begins_there_is_no_entry() {
    // addiu v0,v0,-1; addiu v0,v0,-1; b .-4; break (in the slot: left to an interpreter, which may go on at the second)
    let words = [0x2442_ffff, 0x2442_ffff, 0x1000_fffe, 0xd];
    let options = Options { endian: Endian::Big, max_insts: 100, gp: None };
    let found = lift(&Beside(Words(&words, &[]), PC + 4), PC, &options);
    assert_eq!(found.entries, [PC]);
    assert_eq!(lift(&Words(&words, &[]), PC, &options).entries, [PC, PC + 4]);
}

#[test]
fn what_is_not_lifted_is_left_to_an_interpreter() {
    // cfc1 t0,$31; jr ra; cfc1 t0,$31 (in the slot)
    let region = region(&[0x4448_f800, 0x03e0_0008, 0x4448_f800], 100);
    assert!(!region.runs);
    assert_eq!(region.entries, [PC, PC + 4]);
    assert_eq!(text(&region).matches("trap").count(), 3);
}

#[test]
fn a_branch_in_a_slot_is_left_to_an_interpreter() {
    // beq zero,zero,.+8; b .+8
    let region = region(&[0x1000_0001, 0x1000_0001, 0, 0], 100);
    assert!(!region.runs);
}

#[test]
fn memory_has_the_guests_order() {
    // lw t0,4(sp); sh t0,2(sp); jr ra; nop
    let text = text(&region(&[0x8fa8_0004, 0xa7a8_0002, 0x03e0_0008, 0], 100));
    assert!(text.contains("load guest align 4 big"), "{text}");
    assert!(text.contains("store guest align 2 big"), "{text}");
}

#[test]
fn doubles_are_one_slot_where_the_region_uses_them() {
    // add.d $f0,$f0,$f2; mtc1 a0,$f1; add.s $f4,$f4,$f6; jr ra; nop
    let text = text(&region(&[0x4622_0000, 0x4484_0800, 0x4606_2100, 0x03e0_0008, 0], 100));
    assert!(text.contains("slot d0 : f64 home 256"), "{text}");
    assert!(text.contains("slot f4 : f32 home 272"), "{text}");
    assert!(!text.contains("slot f1 "), "{text}");
}

#[test]
fn regions_end_at_their_bound() {
    // Without end: addiu v0,v0,1
    let words = vec![0x2442_0001; 1000];
    let region = region(&words, 50);
    assert_eq!(region.words.len(), 50);
    assert_eq!(text(&region).matches("tail_call_guest").count(), 1);
}

#[test]
fn nothing_to_read_is_a_region_that_leads_out() {
    let options = Options { endian: Endian::Little, max_insts: 10, gp: None };
    let region = lift(&Words(&[], &[]), PC, &options);
    assert!(!region.runs);
    assert!(region.entries.is_empty());
    verify(&region.module).expect("a sound module");
}

/// Any words at all give a sound module.
#[test]
fn any_words_are_lifted() {
    use xenoglot_testgen::rng::Rng;
    let first = xenoglot_testgen::property::seed();
    for n in 0..xenoglot_testgen::property::budget(2_000, 200_000) {
        let mut rng = Rng::new(first.wrapping_add(n));
        let words: Vec<u32> = (0..32)
            .map(|_| {
                // Half of them near an instruction of the table.
                let row = &crate::isa::OPS[rng.below(crate::isa::OPS.len() as u32) as usize];
                let any = rng.next_u32();
                if rng.percent(50) { row.bits | any & !row.mask & 0x03ff_001f } else { any }
            })
            .collect();
        region(&words, 40);
    }
}
