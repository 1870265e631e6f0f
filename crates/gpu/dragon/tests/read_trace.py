"""Reads a trace with Perfetto's own code and prints, as JSON, the nanoseconds of slices by track.

Arguments: the trace as Perfetto packets, the trace as Chrome JSON. Prints {"schema": …, "packets": …, "json": …}: by the
schema in the Python package alone, and by trace_processor for both files; the last two are null, with "error", if there is
no trace_processor: the package fetches it when it is first used.
"""
import json
import sys

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as schema

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
    for packet in trace.packet:
        if packet.HasField("track_descriptor"):
            names[packet.track_descriptor.uuid] = packet.track_descriptor.name
        if packet.HasField("track_event"):
            event = packet.track_event
            if event.type == schema.TrackEvent.TYPE_SLICE_BEGIN:
                begins[event.track_uuid] = packet.timestamp
            elif event.type == schema.TrackEvent.TYPE_SLICE_END:
                name = names[event.track_uuid]
                totals[name] = totals.get(name, 0) + packet.timestamp - begins.pop(event.track_uuid)
    assert not begins, "slices without an end"
    return totals


def by_processor(path, query):
    from perfetto.trace_processor import TraceProcessor

    processor = TraceProcessor(trace=path)
    try:
        return {row.name: row.total for row in processor.query(query)}
    finally:
        processor.close()


packets, chrome = sys.argv[1:]
result = {"schema": by_schema(packets), "packets": None, "json": None}
try:
    result["packets"] = by_processor(packets, BY_TRACK)
    result["json"] = by_processor(chrome, BY_THREAD)
except Exception as error:  # whatever keeps it from starting
    result["error"] = type(error).__name__
print(json.dumps(result))
