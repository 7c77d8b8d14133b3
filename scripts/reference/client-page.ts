import { join } from 'node:path';
import { readDeclarations } from './read-declarations.ts';
import { blocks, type Section, writeDeclarations } from './write-declarations.ts';

const SECTIONS: readonly Section[] = [
  { title: 'Client', members: [['FxRates', 'fx.']] },
  { title: 'Options of the client', members: [['FxRatesOptions', '']] },
  { title: 'Options for the rate limit', members: [['RateLimitOptions', 'rateLimit.']] },
  { title: 'Options for the cache', members: [['CacheOptions', 'cache.']], whole: ['CacheStore'] },
  { title: 'Options for the quota', members: [['QuotaGuardOptions', 'quotaGuard.']] },
  { title: 'Options for the user agent', members: [['AppInfo', 'appInfo.']] },
  {
    title: 'Options of a call',
    members: [['CallOptions', '']],
    whole: ['SchemaCallOptions', 'GetOptions', 'NumbersOption'],
  },
  { title: 'Options of a batch', members: [['BatchOptions', '']] },
  { title: 'Options of a poll', members: [['PollOptions', '']] },
  {
    title: 'Results',
    whole: [
      'ApiCall',
      'ResponseMeta',
      'Attempt',
      'Batch',
      'BatchItem',
      'BatchProgress',
      'Poll',
      'PollItem',
      'PollSchedule',
    ],
  },
  {
    title: 'Errors',
    text: 'Every error of the client has the fields of `FxRatesError`. `error.kind` tells them apart.',
    members: [['FxRatesError', 'error.']],
    whole: [
      'ConfigError',
      'AuthenticationError',
      'RateLimitError',
      'RateLimitReason',
      'QuotaExhaustedError',
      'RequestError',
      'ServerError',
      'NetworkError',
      'TimeoutError',
      'AbortError',
      'ResponseError',
      'FxRatesErrorKind',
      'AnyFxRatesError',
    ],
  },
  {
    title: 'Events',
    text: 'A hook is an option of the client and gets one event.',
    members: [['EventHooks', '']],
    whole: ['RequestEvent', 'RetryEvent', 'WaitEvent', 'QuotaEvent', 'CallEvent', 'KeyEvent', 'Logger', 'CallTrace'],
  },
  {
    title: 'Limits and quota',
    whole: [
      'KeyLimits',
      'LimiterEvent',
      'LimiterChange',
      'QuotaEstimate',
      'QuotaForecast',
      'forecastQuota',
      'granularityMs',
    ],
  },
];

export function clientPage(root: string): string {
  const source = join(root, 'src/client');
  const client = readDeclarations(join(source, 'index.ts'));
  const stores = ['file-store', 'redis'].flatMap((name) => {
    const declarations = readDeclarations(join(source, name, 'index.ts'));
    const own = new Map(Array.from(declarations).filter(([declared]) => !client.has(declared)));
    const title = `\`fxrates/${name}\``;
    return writeDeclarations(own, [{ title, whole: Array.from(own.keys()) }]);
  });
  return blocks(['# Client: reference', INTRO, writeDeclarations(client, SECTIONS, stores)]);
}

const INTRO = `Everything \`fxrates\`, \`fxrates/file-store\` and \`fxrates/redis\` export. For their use, see [client.md](../client.md).

\`\`\`ts
import { FxRates } from 'fxrates';

const fx = new FxRates({ apiKey: 'fx_live_…', baseUrl: 'https://api.example.com' });
\`\`\``;
