// Reads texture files with the WebAssembly module of xenoglot-texture-web, in browsers and in Node.

/** Numbers of VkFormat for formats that GPUs of pages have, by the WebGPU feature that says so. */
export const FORMATS = {
  "texture-compression-bc": { bc1: 131, bc3: 137, bc4: 139, bc5: 141, bc7: 145 },
  "texture-compression-etc2": { etc2Rgb: 147, etc2Rgba: 151, eacR11: 153, eacRg11: 155 },
  "texture-compression-astc": { astc4x4: 157 },
};

/** Qualities of encoders, as in xenoglot_texture::Quality. */
export const QUALITY = { fastest: 0, fast: 1, normal: 2, high: 3 };

/** A loaded module. */
export class Textures {
  #exports;

  constructor(exports) {
    this.#exports = exports;
  }

  /** From the module's bytes. */
  static async load(bytes) {
    const { instance } = await WebAssembly.instantiate(bytes, {});
    return new Textures(instance.exports);
  }

  /**
   * Reads a file (Uint8Array): what it is, and its images with their data, copied out of the module. Without `vulkan` they are
   * texels, with a number of VkFormat blocks of that format. Throws an Error with the reason for a file that is refused.
   */
  read(file, { vulkan = 0, quality = QUALITY.normal } = {}) {
    const module = this.#exports;
    const memory = (start, bytes) => new Uint8Array(module.memory.buffer, start >>> 0, bytes >>> 0);
    memory(module.texture_room(file.length), file.length).set(file);
    const isRead = module.texture_read(vulkan, quality);
    const text = new TextDecoder().decode(memory(module.texture_text(), module.texture_text_bytes()));
    if (!isRead) throw new Error(text);
    const texture = JSON.parse(text);
    const data = memory(module.texture_data(), module.texture_data_bytes());
    for (const image of texture.images) image.data = data.slice(image.offset, image.offset + image.length);
    module.texture_room(0);
    return texture;
  }
}
