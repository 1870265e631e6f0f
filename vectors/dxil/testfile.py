"""Writes .test files (FORMAT.md), and makes up words for them."""
M = 0xffffffff

def rnd(seed, n):
    out = []
    for _ in range(n):
        seed = (seed * 1664525 + 1013904223) & M
        out.append(seed)
    return out

def lines(words):
    return "\n".join("  " + " ".join("%08x" % w for w in words[i:i + 8]) for i in range(0, len(words), 8))

def test(name, profile, resources, expected, groups="1 1 1", needs=()):
    out = ["dxt 1", "name " + name, "profile " + profile, "entry main", "dispatch " + groups]
    out += ["need " + need for need in needs]
    for where, kind, words, size, stride, form in resources:
        out.append(f"resource {where} {kind} {size} {stride} {form}")
        if words: out += ["init", lines(words), "end"]
    for where, words in expected: out += [f"expect {where} exact", lines(words), "end"]
    open(name + ".test", "w").write("\n".join(out) + "\n")
