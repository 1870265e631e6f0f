//! What commands of the geometry engine take, in cycles of 33 MHz: alone as GBATEK lists them, and behind one another.

use xenoglot_nds::geometry::command::{self, Command};
use xenoglot_nds::geometry::vertex::Primitive;
use xenoglot_nds::gpu::Gpu;

const BUSY: u32 = 1 << 27;

/// Queues a command with zeros for parameters.
fn queue(gpu: &mut Gpu, command: Command) {
    let number = command as u8;
    (0..command::info(number).params.max(1)).for_each(|_| gpu.write_port(number, 0).unwrap());
}

/// Cycles until the engine is idle, or waits for the vertical blank.
fn until_idle(gpu: &mut Gpu) -> u64 {
    let mut cycles = 0;
    while gpu.status() & BUSY != 0 && !gpu.geometry().is_swap_pending() {
        gpu.run(1);
        cycles += 1;
        assert!(cycles < 1_000_000);
    }
    cycles
}

/// Cycles until everything that is queued was taken: the units may still work.
fn until_taken(gpu: &mut Gpu) -> u64 {
    gpu.run(1_000_000)
}

/// A command alone, on engines in matrix mode 0.
fn alone(command: Command) -> u64 {
    let mut gpu = Gpu::default();
    queue(&mut gpu, command);
    until_idle(&mut gpu)
}

#[test]
fn commands_alone_take_what_gbatek_says() {
    // melonDS's authors measured others for these: matrix products all take as long as the longest.
    let others = [
        (Command::MtxMult4x3, 35),
        (Command::MtxMult3x3, 35),
        (Command::MtxScale, 35),
        (Command::MtxTrans, 35),
        (Command::LightColor, 2),
        // 1 for the parameter and 7 of the unit; GBATEK has 9 to 12, by the number of lights.
        (Command::Normal, 8),
        // Its cycles follow the vertical blank.
        (Command::SwapBuffers, 1),
    ];
    for number in command::numbers() {
        let info = command::info(number);
        let command = info.command.unwrap();
        let wanted =
            others.iter().find(|other| other.0 == command).map_or(info.cycles.into(), |other| other.1);
        assert_eq!(alone(command), wanted, "{}", info.name);
    }
}

#[test]
fn products_of_both_matrices_take_30_cycles_more() {
    for (command, extra) in [
        (Command::MtxMult4x4, 30),
        (Command::MtxMult4x3, 30),
        (Command::MtxMult3x3, 30),
        (Command::MtxTrans, 30),
        (Command::MtxScale, 0),
        (Command::MtxLoad4x4, 0),
    ] {
        let mut gpu = Gpu::default();
        gpu.feed(&[0x10, 2]);
        queue(&mut gpu, command);
        assert_eq!(until_idle(&mut gpu), alone(command) + extra, "{command:?}");
    }
}

#[test]
fn texture_matrices_take_less() {
    for (command, cycles) in [
        (Command::MtxLoad4x4, 16 + 10),
        (Command::MtxLoad4x3, 12 + 7),
        (Command::MtxMult4x4, 33),
        (Command::MtxScale, 33),
        (Command::MtxTrans, 33),
        (Command::MtxPop, 18),
        (Command::MtxRestore, 18),
    ] {
        let mut gpu = Gpu::default();
        gpu.feed(&[0x10, 3]);
        queue(&mut gpu, command);
        assert_eq!(until_idle(&mut gpu), cycles, "{command:?}");
    }
}

/// Cycles until a command that follows another was taken, less those that it takes alone.
fn behind(first: Command, command: Command) -> u64 {
    let taken = |commands: &[Command]| {
        let mut gpu = Gpu::default();
        gpu.feed(&[0x40, 0]);
        commands.iter().for_each(|&command| queue(&mut gpu, command));
        until_taken(&mut gpu)
    };
    taken(&[first, command]) - taken(&[command])
}

#[test]
fn commands_wait_for_the_vertex_unit_if_they_change_what_it_needs() {
    // A vertex and its own cycles are 4; its unit is busy up to the 8th.
    for (commands, wait) in [
        (&[Command::Texcoord, Command::Normal, Command::MtxPush, Command::MtxMode, Command::Vtx10][..], 0),
        (&[Command::Color, Command::DifAmb, Command::SpeEmi, Command::VecTest], 2),
        (&[Command::PolygonAttr, Command::TeximageParam, Command::PlttBase, Command::LightColor], 4),
        (&[Command::Shininess, Command::EndVtxs, Command::Viewport, Command::PosTest], 4),
    ] {
        for &command in commands {
            assert_eq!(behind(Command::Vtx10, command), 4 + wait, "{command:?}");
        }
    }
}

#[test]
fn only_vertices_do_not_wait_for_a_normal() {
    // The parameter and a cycle without lights; the unit is busy up to the 8th.
    assert_eq!(behind(Command::Normal, Command::Vtx10), 2);
    assert_eq!(behind(Command::Normal, Command::Color), 8);
    assert_eq!(behind(Command::Normal, Command::Normal), 8);
}

#[test]
fn each_light_takes_a_cycle() {
    for lights in 0..16u32 {
        let mut gpu = Gpu::default();
        gpu.feed(&[0x29, lights, 0x40, 0]);
        queue(&mut gpu, Command::Normal);
        assert_eq!(until_taken(&mut gpu), 1 + u64::from(lights.count_ones().max(1)));
    }
}

/// Engines that draw both faces of polygons, or none, and begin a primitive.
fn begun(primitive: Primitive, is_drawn: bool) -> Gpu {
    let mut gpu = Gpu::default();
    let attributes = if is_drawn { 31 << 16 | 0xc0 } else { 31 << 16 };
    let viewport = 255 << 16 | 191 << 24;
    gpu.feed(&[0x60, viewport, 0x10, 0, 0x15, 0x10, 2, 0x15, 0x29, attributes, 0x40, primitive as u32]);
    gpu
}

/// Cycles that another polygon of a primitive takes, where many follow one another.
fn cycles_of_a_polygon(primitive: Primitive, is_drawn: bool) -> u64 {
    let shared = if primitive.is_strip() { 2 } else { 0 };
    let cycles = |polygons: usize| {
        let mut gpu = begun(primitive, is_drawn);
        let corners = [[-0x40, -0x40], [0x40, -0x40], [0x40, 0x40], [-0x40, 0x40]];
        for i in 0..shared + polygons * (primitive.corners() - shared) {
            let [x, y] = corners[i % 4].map(|c: i32| (c as u32) & 0x3ff);
            gpu.write_port(Command::Vtx10 as u8, x | y << 10).unwrap();
        }
        let cycles = until_idle(&mut gpu);
        assert_eq!(gpu.geometry().building().polygons.len(), if is_drawn { polygons } else { 0 });
        cycles
    };
    (cycles(50) - cycles(10)) / 40
}

#[test]
fn polygons_keep_their_unit_busy_and_vertices_take_its_slots() {
    // A triangle's 26 cycles, or a quad's 35, and one of the vertex that has waited for its end. The others came in slots.
    assert_eq!(cycles_of_a_polygon(Primitive::Triangles, true), 27);
    assert_eq!(cycles_of_a_polygon(Primitive::TriangleStrip, true), 27);
    assert_eq!(cycles_of_a_polygon(Primitive::Quads, true), 36);
    // Of a strip of quads, the second vertex of two has the last slot, and waits for the end at which its polygon begins.
    assert_eq!(cycles_of_a_polygon(Primitive::QuadStrip, true), 35);
    // What is culled takes 8 and one.
    assert_eq!(cycles_of_a_polygon(Primitive::TriangleStrip, false), 9);
}

#[test]
fn begin_light_vectors_and_box_tests_wait_for_the_polygon_unit() {
    // A triangle that is culled, and what follows it.
    let taken = |following: Option<Command>, is_first: bool| {
        let mut gpu = begun(Primitive::Triangles, false);
        if !is_first {
            (0..3).for_each(|_| queue(&mut gpu, Command::Vtx10));
        }
        following.into_iter().for_each(|command| queue(&mut gpu, command));
        until_taken(&mut gpu)
    };
    let behind =
        |command: Command| taken(Some(command), false) - taken(None, false) - taken(Some(command), true);
    // It takes 8 cycles, of which the last vertex's own 3 have passed.
    assert_eq!(behind(Command::BeginVtxs), 5);
    assert_eq!(behind(Command::LightVector), 5 + 8);
    assert_eq!(behind(Command::BoxTest), 5 + 10);
    assert_eq!(behind(Command::MtxIdentity), 0);
}

#[test]
fn ram_count_stays_for_ten_cycles_after_the_blank() {
    let mut gpu = Gpu::default();
    gpu.feed(&[0x60, 255 << 16 | 191 << 24, 0x10, 0, 0x15, 0x10, 2, 0x15, 0x29, 31 << 16 | 0xc0, 0x40, 0]);
    for [x, y] in [[0, 0], [0x40, 0], [0, 0x40]] {
        gpu.feed(&[0x24, x | y << 10]);
    }
    queue(&mut gpu, Command::SwapBuffers);
    gpu.run(100);
    assert!(gpu.geometry().is_swap_pending());
    let count = |gpu: &mut Gpu| (gpu.readback().polygons, gpu.readback().vertices);
    assert_eq!(count(&mut gpu), (1, 3));
    gpu.vblank();
    assert_eq!(count(&mut gpu), (1, 3));
    gpu.run(9);
    assert_eq!(count(&mut gpu), (1, 3));
    gpu.run(1);
    assert_eq!(count(&mut gpu), (0, 0));
}
