import { hasRedis } from '../../test/helpers/redis-server.ts';
import type { Contender } from './contender.ts';

const SHARED_IN_REDIS: readonly Contender[] = [
  { name: 'fxrates, shared in Redis', file: 'fxrates-redis.ts', told: 'nothing', processes: [4] },
  { name: 'fxrates, shared in Redis, told the limit', file: 'fxrates-redis.ts', told: 'limit', processes: [4] },
];

/**
 * Each package runs with its defaults. Packages whose default gives up early run with ten retries as well. Timeouts of
 * calls and attempts are off (fxrates, ky, discord.js): the job takes longer than they allow, and a pause of the
 * machine counts five times in scaled time. A limiter without retries calls ky, which retries the refused requests.
 * With several processes, a package that is configured with the limit runs twice: each process gets the whole limit, or
 * its share.
 */
export const CONTENDERS: readonly Contender[] = [
  { name: 'fxrates', file: 'fxrates.ts', told: 'nothing' },
  { name: 'fxrates, told the limit', file: 'fxrates.ts', told: 'limit' },
  ...(hasRedis ? SHARED_IN_REDIS : []),
  { name: 'plain fetch', file: 'fetch.ts', told: 'nothing' },
  ...withTenRetries({ name: 'openai, 2 retries', file: 'openai.mjs', told: 'nothing' }),
  ...withTenRetries({ name: 'ky, 2 retries', file: 'ky.mjs', told: 'nothing' }),
  ...withTenRetries({ name: 'got, 2 retries', file: 'got.mjs', told: 'nothing' }),
  ...withTenRetries({ name: 'undici RetryAgent, 5 retries', file: 'undici-retry-agent.mjs', told: 'nothing' }),
  { name: 'p-retry, 10 retries', file: 'p-retry.mjs', told: 'nothing' },
  ...withTenRetries({ name: 'AWS adaptive, 2 retries', file: 'aws-adaptive.mjs', told: 'nothing' }),
  { name: 'octokit throttling, 10 retries', file: 'octokit-throttling.mjs', told: 'nothing', retries: 10 },
  { name: 'slack web-api, 10 retries', file: 'slack-web-api.mjs', told: 'nothing' },
  { name: 'discord.js rest', file: 'discordjs-rest.mjs', told: 'nothing' },
  ...toldBothWays({ name: 'bottleneck', file: 'bottleneck.mjs' }),
  ...toldBothWays({ name: 'p-queue + ky', file: 'p-queue.mjs' }),
  ...toldBothWays({ name: 'p-throttle + ky', file: 'p-throttle.mjs' }),
];

function withTenRetries(contender: Contender): Contender[] {
  return [contender, { ...contender, name: contender.name.replace(/\d+ retries/, '10 retries'), retries: 10 }];
}

function toldBothWays({ name, file }: { readonly name: string; readonly file: string }): Contender[] {
  return [
    { name: `${name}, told the limit`, file, told: 'limit' },
    { name: `${name}, told a quarter`, file, told: 'share', processes: [4] },
  ];
}
