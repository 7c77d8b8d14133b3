/** Bundled, then run where there are no packages. */
import { FxRates } from 'fxrates';

const key = `fx_live_${'0'.repeat(48)}`;
const refuses = async () =>
  Response.json({ success: false, error: { code: 'none', message: '', status: 401 } }, { status: 401 });
const fx = new FxRates({ apiKey: key, baseUrl: 'https://service.test', fetch: refuses });

fx.quota().catch(({ kind }) => {
  process.exitCode = kind === 'authentication' ? 0 : 1;
});
