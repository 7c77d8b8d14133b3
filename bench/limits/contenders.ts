import { hasRedis } from '../../test/helpers/redis-server.ts';
import type { Contender } from './contender.ts';

const SHARED_IN_REDIS: readonly Contender[] = [
  { name: 'fxrates, shared in Redis', file: 'fxrates-redis.ts', told: 'nothing', processes: [4] },
  { name: 'fxrates, shared in Redis, told the limit', file: 'fxrates-redis.ts', told: 'limit', processes: [4] },
];

/**
 * Each with its own defaults, and where those give up early also with ten retries. Time limits of calls and attempts are
 * off for everybody (fxrates, ky, discord.js): the job is longer, and a machine that stalls does so in shrunken time. A limiter that only counts has ky behind it for what is
 * refused all the same. With several processes those that are told a limit are tried with all of it and with their share.
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
