// Colours as oh-my-pi's pi-utils/chalk has them: styles that chain. Without a terminal the text stays as it is.

const STYLES = {
  ...{ reset: [0, 0], bold: [1, 22], dim: [2, 22], italic: [3, 23], underline: [4, 24], inverse: [7, 27], hidden: [8, 28], strikethrough: [9, 29] },
  ...{ black: [30, 39], red: [31, 39], green: [32, 39], yellow: [33, 39], blue: [34, 39], magenta: [35, 39], cyan: [36, 39], white: [37, 39] },
  ...{ gray: [90, 39], grey: [90, 39], redBright: [91, 39], greenBright: [92, 39], yellowBright: [93, 39], blueBright: [94, 39] },
  ...{ magentaBright: [95, 39], cyanBright: [96, 39], whiteBright: [97, 39] },
  ...{ bgBlack: [40, 49], bgRed: [41, 49], bgGreen: [42, 49], bgYellow: [43, 49], bgBlue: [44, 49], bgMagenta: [45, 49], bgCyan: [46, 49], bgWhite: [47, 49] },
};

const rgb = (hex) => [16, 8, 0].map((shift) => (Number.parseInt(hex.replace("#", ""), 16) >> shift) & 255);

function styled(codes) {
  const paint = (...texts) => {
    const text = texts.join(" ");
    if (!chalk.level || !text) return text;
    return codes.reduceRight((inner, [on, off]) => `\u001b[${on}m${inner}\u001b[${off}m`, text);
  };
  const made = {
    hex: (hex) => styled([...codes, [`38;2;${rgb(hex).join(";")}`, 39]]),
    bgHex: (hex) => styled([...codes, [`48;2;${rgb(hex).join(";")}`, 49]]),
    rgb: (...parts) => styled([...codes, [`38;2;${parts.join(";")}`, 39]]),
    bgRgb: (...parts) => styled([...codes, [`48;2;${parts.join(";")}`, 49]]),
    ansi256: (code) => styled([...codes, [`38;5;${code}`, 39]]),
  };
  for (const [name, code] of Object.entries(STYLES)) Object.defineProperty(made, name, { get: () => styled([...codes, code]) });
  return Object.setPrototypeOf(paint, made);
}

const chalk = Object.assign(styled([]), { level: process.stdout.isTTY && !process.env.NO_COLOR ? 3 : 0 });
export default chalk;
