/** A Cloudflare Worker: bundled, then run by workerd. */
import { FxRates } from 'fxrates';

// biome-ignore lint/style/noDefaultExport: workerd asks for it
export default {
  async fetch(_request, { FXRATES_BASE_URL: baseUrl, FXRATES_API_KEY: apiKey }) {
    const { plan } = await new FxRates({ baseUrl, apiKey, maxRetries: 0 }).quota();
    return new Response(plan);
  },
};
