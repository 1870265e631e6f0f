#!/usr/bin/env python3
"""Writes the .test files of this folder. What is expected is computed here from what the HLSL says."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from testfile import M, rnd, test

raw, tri, table = rnd(1, 16), [w & 0xffff for w in rnd(2, 48)], rnd(3, 16)
scale, bias, rest = 7, 11, [0, 0x5555]
v = [(raw[i] * scale + table[(i & 3) * 4 + (i >> 2 & 3)] + bias) & M for i in range(16)]
pairs = [x for i in range(16) for x in (v[i], (tri[3 * i] + tri[3 * i + 1] * tri[3 * i + 2]) & M)]
sums = [sum(v[i::4]) & M for i in range(4)] + [max(v)] + [0] * 11 + [w ^ rest[1] for w in v]
test("root_addresses", "cs_6_0", [
    ("cbv 0 0", "cbuffer", [scale, bias] + rest, 16, 0, "-"), ("cbv 0 1", "cbuffer", table, 64, 0, "-"),
    ("srv 0 0", "raw", raw, 64, 0, "-"), ("srv 0 1", "structured", tri, 192, 12, "-"),
    ("uav 0 0", "raw", [], 128, 0, "-"), ("uav 0 1", "structured", [], 128, 8, "-")],
    [("uav 0 0", sums), ("uav 0 1", pairs)])

some, many = [rnd(10 + n, 16 + n) for n in range(4)], [rnd(20 + n, 32) for n in range(3)]
table, texels, heap = rnd(30, 8), rnd(31, 16), 100
direct = [5] + rnd(32, 16)
a = [some[i & 3][i] for i in range(16)]
results = []
for i in range(16):
    b = many[i % 3][2 * i:2 * i + 2]
    results += [(a[i] + table[(i & 1) * 4 + 1]) & M, (b[0] * 3 + b[1]) & M, (texels[i] + 13) & M,
                (4 * len(some[3]) + direct[1 + i]) & M]
test("heap_tables", "cs_6_6", [
    ("cbv 0 0", "cbuffer", [heap, 13], 16, 0, "-"), ("cbv 0 1", "cbuffer", table, 32, 0, "-")] +
    [(f"srv 0 {4 + n}", "raw", w, 4 * len(w), 0, "-") for n, w in enumerate(some)] +
    [(f"srv 1 {n}", "structured", w, 4 * len(w), 8, "-") for n, w in enumerate(many)] +
    [("srv 0 8", "typed", texels, 64, 0, "R32_UINT"), ("uav 0 0", "structured", [], 256, 16, "-"),
     (f"uav heap {heap}", "raw", direct, 68, 0, "-")],
    [("uav 0 0", results), (f"uav heap {heap}", [(5 + sum(a)) & M] + direct[1:])])

test("counter", "cs_6_0", [("uav 0 0", "structured", [], 32, 4, "-"), ("uav 0 1", "structured", [], 32, 4, "-"),
    ("uav 0 2", "raw", [], 16, 0, "-")],
    [("uav 0 0", [i * i + 1 for i in range(8)]), ("uav 0 2", [0xff000000])])

vectors = [rnd(40 + i, 4) if i & 1 else [(w & 0x3ff) - 0x200 & M for w in rnd(40 + i, 4)] for i in range(16)]
s = lambda w: w - (1 << 32) if w >> 31 else w
byte = lambda w, n: w >> 8 * n & 255
sbyte = lambda w, n: byte(w, n) - 256 if byte(w, n) > 127 else byte(w, n)
clamp = lambda w, lo, hi: max(lo, min(hi, s(w))) & 255
pack = lambda bytes_: sum(b << 8 * n for n, b in enumerate(bytes_))
out = []
for q in vectors:
    dot = sum(byte(q[0], n) * (1 + 2 * n) for n in range(4)) + sum(sbyte(q[1], n) * (2 + 2 * n) for n in range(4))
    out += [pack([w & 255 for w in q]), pack([clamp(w, 0, 255) for w in q]), pack([clamp(w, -128, 127) for w in q]), dot & M]
test("packed", "cs_6_6", [("uav 0 0", "raw", [], 256, 0, "-"), ("srv 0 1", "raw", [w for q in vectors for w in q], 256, 0, "-")],
    [("uav 0 0", out)])

test("prefixes", "cs_6_5", [("uav 0 0", "structured", [], 1024, 16, "-"), ("srv 0 1", "structured", rnd(50, 64), 256, 4, "-")],
    [("uav 0 0", [1] * 256)])
