/** Runs the bundled worker in miniflare, a package in the folder `argv[2]`. Sends requests at once, then one after another. */
import { createRequire } from 'node:module';

const { Miniflare } = createRequire(`${process.argv[2]}/`)('miniflare');
const { FXRATES_BASE_URL, FXRATES_API_KEY } = process.env;

const worker = new Miniflare({
  modules: true,
  scriptPath: 'alone/worker.mjs',
  compatibilityDate: '2025-09-01',
  compatibilityFlags: ['nodejs_compat'],
  bindings: { FXRATES_BASE_URL, FXRATES_API_KEY },
});
try {
  const url = await worker.ready;
  const ask = async () => (await fetch(url, { signal: AbortSignal.timeout(10_000) })).text();
  const answers = await Promise.all(Array.from({ length: 8 }, ask));
  answers.push(await ask(), await ask());
  const wrong = answers.find((answer) => answer !== 'developer');
  if (wrong !== undefined) throw new Error(`${answers.length} requests: ${wrong}`);
} finally {
  await worker.dispose();
}
