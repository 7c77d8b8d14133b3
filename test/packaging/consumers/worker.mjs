/** A Cloudflare Worker with one client per request: bundled, then run by workerd. */
import { FxRates } from 'fxrates';

// biome-ignore lint/style/noDefaultExport: workerd asks for it
export default {
  async fetch(_request, { FXRATES_BASE_URL: baseUrl, FXRATES_API_KEY: apiKey }) {
    const fx = new FxRates({ baseUrl, apiKey, maxRetries: 0 });
    const [{ plan }] = await Promise.all([fx.quota(), fx.latest({ base: 'EUR' }), fx.latest({ base: 'USD' })]);
    return new Response(plan);
  },
};
