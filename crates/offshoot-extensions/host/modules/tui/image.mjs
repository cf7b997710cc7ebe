// Images, as their description: rows carry text only.

export class Image {
  #mime;
  #theme;
  #options;

  constructor(base64, mimeType, theme, options = {}) {
    [this.#mime, this.#theme, this.#options] = [mimeType, theme, options];
  }

  getImageId() {
    return undefined;
  }

  invalidate() {}

  render() {
    return [this.#theme.fallbackColor(imageFallback(this.#mime, undefined, this.#options.filename))];
  }
}

export const imageFallback = (mimeType, dimensions, filename) =>
  `[Image: ${[filename, `[${mimeType}]`, dimensions && `${dimensions.widthPx}x${dimensions.heightPx}`].filter(Boolean).join(" ")}]`;

const capabilities = { images: null, trueColor: true, hyperlinks: false };
export const getCapabilities = () => capabilities;
export const detectCapabilities = () => capabilities;
export const setCapabilities = (next) => void Object.assign(capabilities, next);
export const setCapabilityOverrides = setCapabilities;
export const resetCapabilitiesCache = () => {};
export const getCellDimensions = () => ({ widthPx: 9, heightPx: 18 });
export const setCellDimensions = () => {};
export const deleteKittyImage = () => "";
export const deleteAllKittyImages = () => "";
export const hyperlink = (text, url) => `\x1b]8;;${url}\x1b\\${text}\x1b]8;;\x1b\\`;
