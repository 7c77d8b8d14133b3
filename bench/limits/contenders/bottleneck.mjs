import Bottleneck from 'bottleneck';

/** Reservoir and retry as in the README of bottleneck: a refused call waits for Retry-After, any number of times. */
export function createCaller({ origin, apiKey, perMinute }) {
  const limiter = new Bottleneck({
    reservoir: perMinute,
    reservoirRefreshAmount: perMinute,
    reservoirRefreshInterval: 60_000,
  });
  limiter.on('failed', (error) => error.retryAfterMs);
  return (n) =>
    limiter.schedule(async () => {
      const response = await fetch(`${origin}/api/v1/latest?n=${n}`, {
        headers: { authorization: `Bearer ${apiKey}` },
      });
      const body = await response.json();
      if (response.ok) return body;
      throw Object.assign(new Error(`${response.status}`), {
        retryAfterMs: Number(response.headers.get('retry-after')) * 1000,
      });
    });
}
