//! Programs that every engine runs. r0 is the position, r1 to r3 are attributes, g0 to g15 hold numbers from -4 to 4,
//! t0 to t3 are textures of different formats and filters.

/// Name and source.
pub const PROGRAMS: [(&str, &str); 24] = [
    ("flat", "store tb0, g1\nexit"),
    ("attribute", "store tb0, r1\nexit"),
    ("depth", "ldt r4, tb1\nswz r5, r0.zzzz\nsub r6.x, r4, r5\nkill r6\nstore tb0, r1\nstore tb1, r5\nexit"),
    ("modulate", "mul r4, r1, r2\nstore tb0, r4\nexit"),
    ("blend", "ldt r4, tb0\nsub r5, r1, r4\nswz r6, r2.wwww\nmad.sat r4, r5, r6, r4\nstore tb0, r4\nexit"),
    ("add saturated", "add.sat r4, r1, g2\nstore tb2, r4\nexit"),
    (
        "light",
        "dp3 r4, r2, r2\nrsq r5, r4\nmul r6, r2, r5\ndp3.sat r7, r6, g3\nmul r1, r1, r7\nstore tb0, r1",
    ),
    (
        "reciprocals",
        "rcp r4, r2\nrcp.sat r5, r3\nrsq.sat r6, r1\nadd r7.xy, r4, r5\nmov r7.zw, r6\nstore tb2, r7\nexit",
    ),
    ("dot of four", "dp4 r4, r1, r2\ndp4.sat r5, r3, g4\nmov r6.x, r4\nmov r6.yzw, r5\nstore tb2, r6\nexit"),
    (
        "steps",
        "slt r4, r1, r2\nsge r5, r2, r3\nseq r6, r1, r1\nmul r4, r4, r5\nmul r4, r4, r6\nstore tb0, r4\nexit",
    ),
    ("select", "imm r4, 0.5\nslt r5, r1, r4\nsel r6, r1, r2, r5\nstore tb2, r6\nexit"),
    (
        "checker",
        "imm r4, 0.125\nmul r5, r0, r4\nfloor r6, r5\nfrac r7, r5\nimm r8, 0.5\nmul r6, r6, r8\nfrac r6, r6\nadd r6.x, r6, r7\nstore tb0, r6\nexit",
    ),
    (
        "limits",
        "min r4, r1, r2\nmax r5, r2, r3\nabs r6, r3\nneg r7, r2\nmin r4, r4, r6\nmax r5, r5, r7\nadd r4, r4, r5\nstore tb2, r4\nexit",
    ),
    (
        "globals by number",
        "imm r4.x, 0.25\nmul r5.x, r0, r4\nldg r6, r5, 3\nabs.sat r6, r6\nstore tb0, r6\nexit",
    ),
    ("nearest", "tex r4, r2, t0\nstore tb0, r4\nexit"),
    ("bilinear", "imm r5, 3\nmul r4, r2, r5\ntex r4, r4, t1\nstore tb2, r4\nexit"),
    ("palette", "tex r4, r3, t2\nmul r4, r4, r1\nstore tb0, r4\nexit"),
    ("two textures", "tex r4, r2, t3\ntex r5, r3, t0\nsub r6, r4, r5\nabs r6, r6\nstore tb2, r6\nexit"),
    (
        "branch",
        "sub r4.x, r1, r2\nslt r5.x, r4, g0\njz r5, other\nstore tb0, r1\nexit\nother: store tb0, r2\nexit",
    ),
    (
        "loop",
        "imm r4.x, 8\nimm r5.x, 1\nmov r6, r1\nagain: mad r6, r6, r6, r2\nsub r4.x, r4, r5\njz r4, done\njmp again\ndone: store tb2, r6\nexit",
    ),
    (
        "mandelbrot",
        "imm r4, 0.0625\nmul r5, r0, r4\nimm r6, 1.5\nsub r5, r5, r6\nimm r7, 0\nimm r8.x, 12\nimm r9, 1\nimm r12, 4\n\
         again: mul r10, r7, r7\nswz r11, r10.yyyy\nadd r13.x, r10, r11\nsub r13.x, r12, r13\nslt r13.x, r13, g0\njz r13, on\njmp out\n\
         on: sub r14.x, r10, r11\nswz r15, r7.yyyy\nmul r15.x, r7, r15\nadd r15.x, r15, r15\nmov r7.x, r14\nswz r7.y, r15.xxxx\n\
         add r7.xy, r7, r5\nsub r8.x, r8, r9\njz r8, out\njmp again\nout: imm r4.x, 0.0625\nmul r4.x, r8, r4\nswz r4, r4.xxxx\nstore tb2, r4\nexit",
    ),
    (
        "all tiles",
        "store tb0, r1\nstore tb1, r2\nstore tb2, r3\nstore tb3, r0\nldt r4, tb2\nldt r5, tb3\nadd r4, r4, r5\nstore tb2, r4",
    ),
    ("nothing but words", "mov r4._, r1\nnop\n.word 0xffffffff\nstore tb0, r1\nexit"),
    (
        "far numbers",
        "mul r4, r0, r0\nmul r4, r4, r4\nmul r5, r4, r4\nsub r5, r5, r4\nrcp r6, r5\nadd r5, r5, r6\nneg r6, r5\nstore tb2, r6\nstore tb0, r5\nexit",
    ),
];
