const TIMEOUT_MS = 10_000;

/** One attempt with the timeout of fxrates; rejects with `retryAfterMs` if the response has a Retry-After. */
export async function attempt({ fetch, origin, apiKey }, n) {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new Error('timeout')), TIMEOUT_MS);
  try {
    const headers = { authorization: `Bearer ${apiKey}` };
    const response = await fetch(`${origin}/api/v1/latest?n=${n}`, { headers, signal: controller.signal });
    if (response.ok) return await response.json();
    throw Object.assign(new Error(`${response.status}`), { retryAfterMs: retryAfterMs(response) });
  } finally {
    clearTimeout(timer);
  }
}

function retryAfterMs(response) {
  const value = response.headers.get('retry-after');
  if (value === null) return undefined;
  const seconds = Number(value);
  return Math.max(0, Number.isNaN(seconds) ? Date.parse(value) - Date.now() : seconds * 1000);
}
