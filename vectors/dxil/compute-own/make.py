#!/usr/bin/env python3
"""Writes the .test files of this folder. What is expected is computed here from what the sources say."""
import os, struct, sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from testfile import M, rnd, test

def halves(values): return [w for v in values for w in (v & M, v >> 32 & M)]
def signed(w, bits=32): return w - (1 << bits) if w >> bits - 1 else w

# Special operands first, then any.
words = [M, M, 31, 1, 1 << 31, M, 1, 31, 5, 0, 0, 7, 0, 9, 8, 28] + rnd(1, 48)
constants = rnd(2, 16)
out = []
for i in range(16):
    a, b, c, d = words[4 * i:4 * i + 4]
    width, offset = c & 31, d & 31
    product = signed(a) * signed(b)
    row = [product >> 32 & M, product & M, a * b >> 32, a * b & M]
    row += [a // b, a % b] if b else [M, M]
    row += [(a - b) & M, int(a < b)]
    field = (a >> offset) & ((1 << width) - 1)
    top = min(width, 32 - offset)
    row += [signed(field, top) & M if top else 0, field]
    row += [c | 0x3f000000, 0, 1]
    # A double of magnitude 32 to 64.
    bits = (a << 32 | b) & 0x800fffffffffffff | 0x4040000000000000
    double = struct.unpack("<d", struct.pack("<Q", bits))[0]
    row += [int(double) & M, max(0, int(double)), struct.unpack("<I", struct.pack("<f", double))[0], bits >> 32]
    row += [d & 0xffff, constants[i], 1]
    out += row + [M] * (24 - len(row))
test("legacy", "cs_6_2",
    [("srv 0 0", "structured", words, 256, 16, "-"), ("uav 0 1", "structured", [], 1536, 4, "-"),
     ("cbv 0 2", "cbuffer", constants, 64, 0, "-")], [("uav 0 1", out)],
    needs=["shaderInt64", "shaderFloat64", "shaderInt16", "shaderFloat16", "shaderSubgroupClock"])

flags = rnd(3, 16)
flags[4:8], flags[8:12] = [0, 0, 2, 0], [15, 15, 7, 15]
out = []
for i in range(16):
    quad = flags[i & ~3:(i & ~3) + 4]
    v = 0
    for bit in range(4):
        votes = [w >> bit & 1 for w in quad]
        v |= (any(votes) | all(votes) << 1) << 2 * bit
    out.append(v)
test("quad_vote", "cs_6_7", [("uav 0 0", "raw", [], 64, 0, "-"), ("srv 0 1", "raw", flags, 64, 0, "-")],
    [("uav 0 0", out)])

W = (1 << 64) - 1
first = [rnd(4 + i, 2)[0] << 32 | rnd(40 + i, 1)[0] for i in range(16)]
others = [(rnd(60 + i, 2)[0] << 32 | i) & W for i in range(16)]
results = []
for i in range(16):
    results += [0, first[i] >> 32, others[i] & M, others[i] >> 32]
texels = [(v + 0x123456789abcdef) & W for v in first] + [v * 3 & W for v in first]
minima = [min(signed(v, 64), -1) & W for v in others]
test("wide_texels", "cs_6_6",
    [("uav 0 0", "typed", halves(first), 256, 0, "R64_UINT"), ("uav 0 1", "typed", halves(others), 128, 0, "R64_SINT"),
     ("uav 0 2", "raw", [], 256, 0, "-")],
    [("uav 0 0", halves(texels)), ("uav 0 1", halves(minima)), ("uav 0 2", results)],
    needs=["shaderImageInt64Atomics"])

floats = [struct.unpack("<I", struct.pack("<f", i * 1.5))[0] for i in range(16)]
numbers, plain, records = [[w & 0xfff for w in rnd(5 + i, n)] for i, n in enumerate((8, 8, 16))]
test("residency", "cs_6_2",
    [("srv 0 0", "typed", floats, 64, 0, "R32_FLOAT"), ("uav 0 1", "typed", numbers, 32, 0, "R32_UINT"),
     ("srv 0 2", "raw", plain, 32, 0, "-"), ("srv 0 3", "structured", records, 64, 8, "-"),
     ("uav 0 4", "structured", [], 32, 4, "-")],
    [("uav 0 4", [numbers[i] + plain[i] + records[2 * i + 1] + int(i * 1.5) + (31 << 16) for i in range(8)])])

single = lambda w: struct.unpack("<f", struct.pack("<I", w))[0]
bits_of = lambda f: struct.unpack("<I", struct.pack("<f", f))[0]
# To the zero of the sign.
flushed = lambda w: w if w >> 23 & 255 else w & 0x80000000
pairs = [(0x00800001, 0x3f000000), (0x007fffff, 0x00000001), (0x807fffff, 0x40000000), (0x00800000, 0x80800001),
         (0x3f800000, 0x00000005), (0x80000003, 0xbf800000), (0x00400000, 0x4b800000), (0x3f000000, 0x3e800000)] * 2
out = []
for x, y in pairs:
    fx, fy = single(flushed(x)), single(flushed(y))
    # Products and sums of two singles are exact in doubles here, and rounded once.
    product, total = flushed(bits_of(fx * fy)), flushed(bits_of(fx + fy))
    out += [product, total, bits_of(max(fx, fy)), int(fx < fy)]
test("denormals", "cs_6_2",
    [("srv 0 0", "structured", [w for pair in pairs for w in pair], 128, 8, "-"), ("uav 0 1", "structured", [], 256, 16, "-")],
    [("uav 0 1", out)])

words = rnd(7, 16)
out = [(((10 if i & 1 else 20) + sum(words[:i + 1]) & M ^ words[i]) + words[0]) & M for i in range(16)]
test("handle_phis", "cs_6_0", [("uav 0 0", "raw", [], 64, 0, "-"), ("srv 0 1", "raw", words, 64, 0, "-")], [("uav 0 0", out)])

out = []
for i in range(32):
    k = i & 3
    shuffles = [(1 - k) * 10, 0 if k == 0 else -10, 0 if k == 3 else 10, ((k ^ 3) - k) * 10]
    votes = [1, 1, 0xaa, i & 1]
    out += [w & M for w in shuffles + votes + [1, (2 - k) * 10, 0, 0] + [0x11 << k, k, 0, 0]]
test("nvapi_waves", "cs_6_0", [("uav 0 0", "raw", [], 2048, 0, "-")], [("uav 0 0", out)])

half = lambda f: struct.unpack("<H", struct.pack("<e", f))[0]
pair = lambda low, high: half(low) | half(high) << 16
lanes = range(8)
start = [0, pair(-1, -20), pair(100, 100), 0] + [0] * 6 + [0x11, 0x22] + [0] * 6
out = [pair(sum(lanes), 0.5 * 8), pair(max(lanes), -1), pair(min(lanes), -8), bits_of(sum(lanes))]
out += halves([sum(i << 32 | 0x80000000 for i in lanes), max(7 - i << 32 | i for i in lanes)])
out += [0xff, 0x1fe] + [5, 6] + [0x11, 0x22, 1, 2, 5, 6]
test("nvapi_atomics", "cs_6_0", [("uav 0 0", "raw", start, 72, 0, "-")], [("uav 0 0", out)],
    needs=["shaderInt64", "shaderFloat16"])

scale, add, bits = [2.0, 0.0, -1.0, 0.5], 7, 0x5a5a
records = [(float(i - 6), i * 0.25, (i * 37 - 200), (i * 4099 + 5) & 0xffff) for i in range(16)]
table = [0.5, 2.0, -4.0, 8.0]
halves_of, numbers_of = [x * scale[0] + y for x, y, _, _ in records], [n - add for _, _, n, _ in records]
out, plain = [], []
for i, (x, y, n, u) in enumerate(records):
    kept = [y, scale[2], float(i)]
    f = [halves_of[i ^ 5] + table[i & 3], kept[i % 3] * scale[3]]
    n = numbers_of[i ^ 5] * 3
    out += [bits_of(f[0]), bits_of(f[1]), n & M, u >> (i & 7) ^ bits]
    plain += [bits_of(max(f)), min(n, -100) & M]
test("min_precision", "cs_6_2",
    [("cbv 0 0", "cbuffer", [bits_of(v) for v in scale] + [add, bits, 0, 0], 32, 0, "-"),
     ("srv 0 1", "structured", [w for x, y, n, u in records for w in (bits_of(x), bits_of(y), n & M, u)], 256, 16, "-"),
     ("uav 0 2", "structured", [], 256, 16, "-"), ("uav 0 3", "raw", [], 128, 0, "-")],
    [("uav 0 2", out), ("uav 0 3", plain)])
