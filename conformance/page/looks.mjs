// What a page looks like, as a grid of mean colours that is small enough to keep: taken from a picture by the browser that
// drew it, compared with a tolerance.
import * as fs from "node:fs";
import * as path from "node:path";
import { HERE } from "../lib/places.mjs";

const KEPT = path.join(HERE, "page/looks.txt");
/** Cells of a grid: columns and rows. Each is three digits of base 64: red, green, blue. */
const GRID = [40, 30];
const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/** A cell differs if a colour is more steps off; so many cells of a hundred may differ. */
const FAR = 2;
export const MAY_DIFFER = 0.2;

/** The grid of a picture; `blank` is any page without a policy. */
export async function gridOf(blank, picture) {
  return blank.evaluate(
    async ([base64, [columns, rows], digits]) => {
      const image = new Image();
      image.src = `data:image/png;base64,${base64}`;
      await image.decode();
      const [width, height] = [image.naturalWidth, image.naturalHeight];
      const context = Object.assign(document.createElement("canvas"), { width, height }).getContext("2d");
      context.drawImage(image, 0, 0);
      const { data } = context.getImageData(0, 0, width, height);
      const sums = new Float64Array(columns * rows * 4);
      for (let y = 0; y < height; y++) {
        for (let x = 0; x < width; x++) {
          const cell = (Math.floor((y * rows) / height) * columns + Math.floor((x * columns) / width)) * 4;
          for (let part = 0; part < 3; part++) sums[cell + part] += data[(y * width + x) * 4 + part];
          sums[cell + 3] += 1;
        }
      }
      let text = "";
      for (let cell = 0; cell < sums.length; cell += 4) for (let part = 0; part < 3; part++) text += digits[Math.min(63, Math.round(sums[cell + part] / sums[cell + 3] / 4))];
      return text;
    },
    [picture.toString("base64"), GRID, DIGITS],
  );
}

/** The hundredths of cells in which two grids differ. */
export function distance(a, b) {
  if (a.length !== b.length) return 100;
  let off = 0;
  for (let at = 0; at < a.length; at += 3) {
    const far = [0, 1, 2].some((part) => Math.abs(DIGITS.indexOf(a[at + part]) - DIGITS.indexOf(b[at + part])) > FAR);
    off += far ? 1 : 0;
  }
  return (off * 300) / a.length;
}

/** The grids that are kept, by name. */
export function kept() {
  const lines = fs.readFileSync(KEPT, "utf8").trim().split("\n");
  return new Map(lines.filter((line) => !line.startsWith("#")).map((line) => line.split(" ")));
}

export function keep(grids) {
  const lines = [...grids].map((pair) => pair.join(" ")).sort();
  fs.writeFileSync(KEPT, `# Looks of the page: ${GRID.join(" by ")} mean colours each. LOOKS=write node --test page-looks.test.mjs\n${lines.join("\n")}\n`);
}
