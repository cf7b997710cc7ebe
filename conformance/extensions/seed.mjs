// Chance that is the same in every run; the games of the examples need it.
Math.random = () => 0.3;
// And a game whose clock does not tick: how far it is when a key comes would depend on how busy the machine is.
if (process.env.OFFSHOOT_WITHOUT_TICKS) {
  const { setInterval } = globalThis;
  globalThis.setInterval = (run, after, ...rest) => setInterval(after > 100 ? run : () => {}, after, ...rest);
}
