/** Calls `act` every second while the page is looked at; gives a function that ends it. */
export function everySecond(act: () => void): () => void {
  // biome-ignore lint/plugin: whoever looks at the panel lives in real time
  const timer = setInterval(() => {
    if (!document.hidden) act();
  }, 1000);
  return () => clearInterval(timer);
}
