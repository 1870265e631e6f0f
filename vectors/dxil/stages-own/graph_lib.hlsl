// -T lib_6_8
// What the graphs of dxil-2 leave out: records that groups share, arrays of nodes, nodes that are not there, recursion.
RWByteAddressBuffer dst : register(u0);

struct Seed { uint which; };
struct [NodeTrackRWInputSharing] Shared { uint sum; uint which; };
struct Item { uint sum; uint parts[4]; uint64_t wide; };

void note(uint value)
{
    uint at;
    dst.InterlockedAdd(0, 1, at);
    dst.Store(4 + at * 4, value);
}

[Shader("node")] [NodeLaunch("thread")] [NodeIsProgramEntry]
void start(ThreadNodeInputRecord<Seed> r, [MaxRecords(1)] NodeOutput<Shared> add)
{
    ThreadNodeOutputRecords<Shared> o = add.GetThreadNodeOutputRecords(1);
    o.Get().sum = 0;
    o.Get().which = r.Get().which;
    o.OutputComplete();
}

[Shader("node")] [NodeLaunch("broadcasting")] [NodeDispatchGrid(2, 2, 1)] [NumThreads(8, 1, 1)]
void add(
    globallycoherent RWDispatchNodeInputRecord<Shared> r,
    uint i : SV_GroupIndex,
    uint3 g : SV_GroupID,
    [MaxRecords(3)] [NodeID("sink")] [NodeArraySize(4)] [AllowSparseNodes] NodeOutputArray<Item> sinks,
    [MaxRecords(1)] [NodeID("nowhere")] [AllowSparseNodes] EmptyNodeOutput nowhere)
{
    InterlockedAdd(r.Get().sum, (g.y * 2 + g.x) * 8 + i);
    Barrier(r, DEVICE_SCOPE | GROUP_SYNC);
    if (!r.FinishedCrossGroupSharing()) return;
    uint which = r.Get().which;
    bool there = sinks[which].IsValid();
    GroupNodeOutputRecords<Item> o = sinks[which].GetGroupNodeOutputRecords(there ? 3 : 0);
    if (there && i < 3) {
        o[i].sum = r.Get().sum;
        for (uint n = 0; n < 4; ++n) o[i].parts[n] = i * 10 + n;
        o[i].wide = (uint64_t(i + 1) << 32) + which;
    }
    o.OutputComplete();
    if (i == 0 && !there) note(which);
    if (nowhere.IsValid()) nowhere.GroupIncrementOutputCount(1);
}

[Shader("node")] [NodeLaunch("thread")] [NodeID("sink", 1)] [NodeMaxRecursionDepth(2)]
void again(ThreadNodeInputRecord<Item> r, [MaxRecords(1)] [NodeID("sink", 1)] NodeOutput<Item> next)
{
    uint levels = GetRemainingRecursionLevels();
    uint high = uint(r.Get().wide >> 32);
    note(r.Get().sum * 1000 + r.Get().parts[high & 3] * 10 + levels);
    ThreadNodeOutputRecords<Item> o = next.GetThreadNodeOutputRecords(levels != 0 ? 1 : 0);
    if (levels != 0) {
        Item item = r.Get();
        item.wide += uint64_t(1) << 32;
        o.Get() = item;
    }
    o.OutputComplete();
}

[Shader("node")] [NodeLaunch("coalescing")] [NodeID("sink", 2)] [NumThreads(4, 1, 1)]
void pairs(
    [MaxRecords(2)] RWGroupNodeInputRecords<Item> r,
    uint i : SV_GroupIndex,
    [MaxRecords(4)] EmptyNodeOutput done)
{
    uint count = r.Count();
    if (i < count) r[i].parts[i & 3] = r[i].sum + r[i].parts[3];
    Barrier(r, GROUP_SCOPE | GROUP_SYNC);
    if (i < count) {
        uint other = count - 1 - i;
        note(r[other].parts[other & 3]);
    }
    Barrier(dst, DEVICE_SCOPE);
    done.ThreadIncrementOutputCount(i < count ? 1 : 0);
}

[Shader("node")] [NodeLaunch("coalescing")] [NumThreads(1, 1, 1)]
void done([MaxRecords(8)] EmptyNodeInput r)
{
    note(7000000 + r.Count());
}
