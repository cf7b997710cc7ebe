// How many random cases are run: a fixed quarter of them, or with CONFORMANCE_ALL=1 every one. Cases written by hand always are,
// but for cuts at each byte and each filter of each page.
export const ALL = process.env.CONFORMANCE_ALL === "1";
export const sampled = (count) => (ALL ? count : Math.ceil(count / 4));
