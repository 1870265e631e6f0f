#!/usr/bin/env python3
"""Writes words.tsv.xz: sampled MIPS words with the text of binutils' objdump. Needs mips-linux-gnu-objdump."""
import lzma, random, re, struct, subprocess, tempfile

BASE = 0x400000
random.seed(20)


def bits(mask):
    return random.getrandbits(32) & mask


words = []
for opcode in range(64):
    top = opcode << 26
    if opcode in (0, 0x1c, 0x1f, 0x13):
        for function in range(64):
            for mask in [0x03ffffc0] * 3 + [0x03fff800] * 6 + [0x001ff800] * 3 + [0x03e00000, 0x0000f800, 0x0000ffc0, 0x03ff0000]:
                words.append(top | bits(mask) | function)
            words.append(top | 1 << 21 | bits(0x001fffc0) | function)
            words.append(top | bits(0x03fff800) | 1 << 6 | function)
        for field in range(32):
            words += [top | bits(0x001ff800) | field << 6 | 0x20, top | field << 11 | bits(0x001f0000) | 0x3b]
            words += [top | field << 21 | 0x08, top | field << 21 | 0x408, top | field << 6 | 0x0f, top | field << 6, top | field << 11 | bits(0x03e00000) | 9]
    elif opcode == 1:
        for rt in range(32):
            words += [top | bits(0x03e0ffff) | rt << 16 for _ in range(4)] + [top | rt << 16 | bits(0xffff)]
    elif opcode == 0x11:
        for rs in range(32):
            for function in range(64):
                for mask in (0x001fffc0, 0x0000ffc0, 0x001ff800, 0x001f0000):
                    words.append(top | rs << 21 | bits(mask) | function)
            words += [top | rs << 21 | bits(0x001fffff) for _ in range(8)]
            words += [top | 2 << 21 | rs << 11 | bits(0x001f0000), top | 6 << 21 | rs << 11 | bits(0x001f0000)]
    else:
        words += [top | bits(0x03ffffff) for _ in range(24)]
        words += [top | bits(mask) for mask in (0x001fffff, 0x03e0ffff, 0x0000ffff, 0x03ff0000)]

with tempfile.NamedTemporaryFile() as file:
    file.write(b"".join(struct.pack(">I", word) for word in words))
    file.flush()
    command = ["mips-linux-gnu-objdump", "-D", "-z", "-b", "binary", "-m", "mips:isa32r2", "-EB"]
    text = subprocess.run(command + [f"--adjust-vma={BASE:#x}", file.name], check=True, capture_output=True, text=True).stdout
lines = []
for line in text.splitlines():
    match = re.match(r"\s*([0-9a-f]+):\t([0-9a-f]{8}) \t(.*)", line)
    if match:
        lines.append(f"{match[1]} {match[2]} {match[3].rstrip()}\n")
assert len(lines) == len(words)
with lzma.open("words.tsv.xz", "wt", preset=9) as out:
    out.writelines(lines)
print(len(lines), "words")
