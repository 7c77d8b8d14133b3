/** One turn of the event loop: every promise and every event that is ready gets its go. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Milliseconds of real time, in which data on its way through a socket of this machine arrives. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    // biome-ignore lint/plugin: what travels through a socket does not know the virtual clock
    setTimeout(resolve, ms);
  });
}
