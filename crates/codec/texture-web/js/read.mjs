// node read.mjs MODULE.wasm VULKAN OUT FILE...: reads texture files, and writes the images of each, one after the other, to a file of
// the same name in the folder OUT, or the reason to NAME.error. VULKAN is a number of VkFormat, 0 for texels.

import { readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { Textures } from "./texture.mjs";

const [module, vulkan, out, ...files] = process.argv.slice(2);
const textures = await Textures.load(await readFile(module));
for (const file of files) {
  const path = join(out, basename(file));
  try {
    const { images } = textures.read(await readFile(file), { vulkan: Number(vulkan) });
    await writeFile(path, Buffer.concat(images.map((image) => image.data)));
  } catch (error) {
    if (!(error instanceof Error) || error instanceof WebAssembly.RuntimeError) throw error;
    await writeFile(`${path}.error`, error.message);
  }
}
