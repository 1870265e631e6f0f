//! GXSTAT's busy bits: 0 (tests), 14 (matrix stacks) and 27 (the engine), as GBATEK and melonDS have them.

use xenoglot_nds::gpu::Gpu;

const TEST: u32 = 1 << 0;
const STACK: u32 = 1 << 14;
const BUSY: u32 = 1 << 27;

/// The busy bits.
fn busy(gpu: &Gpu) -> u32 {
    gpu.status() & (TEST | STACK | BUSY)
}

fn write(gpu: &mut Gpu, words: &[u32]) {
    words.iter().for_each(|&word| gpu.write_fifo(word).unwrap());
}

#[test]
fn gxstat_bit_27_is_set_while_a_swap_waits_for_the_blank_and_is_carried_out() {
    let mut gpu = Gpu::default();
    assert_eq!(busy(&gpu), 0);
    write(&mut gpu, &[0x50, 0]);
    assert_eq!(busy(&gpu), BUSY);
    // The engine takes it and waits: nothing is queued any more.
    assert_eq!(gpu.run(1000), 1);
    assert!(gpu.fifo().is_empty() && gpu.geometry().is_swap_pending());
    assert_eq!(busy(&gpu), BUSY);
    assert_eq!(gpu.run(1000), 0);
    assert_eq!(busy(&gpu), BUSY);
    // GBATEK: 392 cycles after the vertical blank. What is queued meanwhile comes after them.
    gpu.vblank();
    write(&mut gpu, &[0x20, 0]);
    assert_eq!(gpu.run(100), 100);
    assert_eq!((busy(&gpu), gpu.fifo().is_empty()), (BUSY, false));
    assert_eq!(gpu.run(1000), 292 + 1);
    assert_eq!(busy(&gpu), 0);
}

#[test]
fn gxstat_bit_27_is_clear_after_the_blank_where_time_does_not_count() {
    let mut gpu = Gpu::default();
    assert_eq!(gpu.feed(&[0x50, 0]), 2);
    assert_eq!(busy(&gpu), BUSY);
    gpu.vblank();
    assert_eq!(busy(&gpu), 0);
    // Queued with time, then fed without.
    write(&mut gpu, &[0x50, 0]);
    gpu.run(1000);
    gpu.vblank();
    gpu.feed(&[0x20, 0]);
    assert_eq!(busy(&gpu), 0);
}

#[test]
fn gxstat_bit_0_is_set_from_a_queued_test_until_none_is_left() {
    for (command, params) in [(0x70, 3), (0x71, 2), (0x72, 1)] {
        let mut gpu = Gpu::default();
        write(&mut gpu, &[0x20, 0]);
        assert_eq!(busy(&gpu), BUSY, "COLOR is no test");
        // Two of them behind each other.
        (0..2 * params).for_each(|_| gpu.write_port(command, 0).unwrap());
        assert_eq!(busy(&gpu), BUSY | TEST, "{command:#x}");
        // COLOR's cycle, then one for each parameter: up to the last one of the first test.
        (0..params).for_each(|_| assert_eq!((gpu.run(1), busy(&gpu)), (1, BUSY | TEST), "{command:#x}"));
        gpu.run(1);
        assert_eq!(busy(&gpu), BUSY | TEST, "{command:#x}: the second one is queued");
        gpu.run(1000);
        assert_eq!(busy(&gpu), 0, "{command:#x}");
    }
}

#[test]
fn gxstat_bit_0_is_set_while_a_test_lacks_parameters() {
    let mut gpu = Gpu::default();
    gpu.write_port(0x70, 0).unwrap();
    gpu.run(1000);
    assert!(gpu.fifo().is_empty());
    assert_eq!(busy(&gpu), TEST);
    (0..2).for_each(|_| gpu.write_port(0x70, 0).unwrap());
    gpu.run(1000);
    assert_eq!(busy(&gpu), 0);
}

#[test]
fn gxstat_bit_14_is_set_from_a_queued_push_or_pop_until_none_is_left() {
    for command in [0x11, 0x12] {
        let mut gpu = Gpu::default();
        write(&mut gpu, &[0x10, 1]);
        gpu.write_port(command, 0).unwrap();
        gpu.write_port(0x20, 0).unwrap();
        assert_eq!(busy(&gpu), BUSY | STACK, "{command:#x}");
        gpu.run(1);
        assert_eq!(busy(&gpu), BUSY | STACK, "{command:#x}: MTX_MODE has run");
        // GBATEK: 17 and 36 cycles.
        gpu.run(if command == 0x11 { 16 } else { 35 });
        assert_eq!(busy(&gpu), BUSY | STACK, "{command:#x} is carried out");
        gpu.run(1);
        assert_eq!(busy(&gpu), BUSY, "{command:#x}: COLOR is left");
        gpu.run(1000);
        assert_eq!(busy(&gpu), 0, "{command:#x}");
    }
    // MTX_STORE and MTX_RESTORE move no stack pointer.
    for command in [0x13, 0x14] {
        let mut gpu = Gpu::default();
        gpu.write_port(command, 0).unwrap();
        assert_eq!(busy(&gpu), BUSY, "{command:#x}");
    }
}
