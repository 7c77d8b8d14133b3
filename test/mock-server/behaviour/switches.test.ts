import { expect, test } from 'vitest';
import { notShown } from '../../../src/generated/service.ts';
import type { BehaviourOptions } from '../../../src/mock-server/behaviour/behaviour.ts';
import { SWITCH_NAMES, type SwitchName, switches } from '../../../src/mock-server/behaviour/switches.ts';
import { MockCore } from '../../helpers/mock-core.ts';

const LATEST = '/api/v1/latest';
const QUOTA = '/api/v1/quota';

function burst(core: MockCore, key: string, times: number) {
  return Array.from({ length: times }, () => core.send(LATEST, { key }).code);
}

/** One request over the limit of the minute, a little after the limit was used up. */
function refused(core: MockCore) {
  const { key } = core.createKey();
  burst(core, key, 30);
  core.now += 59_700;
  const { headers } = core.send(LATEST, { key });
  return headers;
}

function withoutQuota(core: MockCore) {
  const created = core.createKey();
  core.keys.setUsage(created.id, { month: 1000 });
  return created;
}

/** One request, 29 half a minute later, and then as many as are accepted in the next minutes. */
function minutes(core: MockCore) {
  const { key } = core.createKey();
  const bursts = [
    [40_000, 1],
    [30_000, 29],
    [30_000, 40],
    ...Array.from({ length: 30 }, () => [2500, 2] as const),
  ] as const;
  return bursts.map(([gapMs, times]) => {
    core.now += gapMs;
    return burst(core, key, times);
  });
}

function developer(core: MockCore) {
  const account = core.accounts.create({ plan: 'developer' });
  core.accounts.confirm(account.id);
  return { account, keys: [0, 1, 2].map(() => core.keys.create({ accountId: account.id })) };
}

function failureOf(act: () => unknown) {
  try {
    return act();
  } catch (error) {
    return { ...(error as object) };
  }
}

/** Requests whose outcome depends on the switch. */
const demonstrations: Readonly<Record<SwitchName, (core: MockCore) => unknown>> = {
  rateWindow: minutes,
  rejectedCountsTowardRate: (core) => {
    const { key } = core.createKey();
    burst(core, key, 30);
    core.now += 30_000;
    burst(core, key, 1);
    core.now += 30_000;
    return burst(core, key, 30);
  },
  quotaEndpointBucket: (core) => {
    const { key } = core.createKey();
    burst(core, key, 30);
    return core.send(QUOTA, { key }).status;
  },
  rateHeaders: (core) => core.send(LATEST, { key: core.createKey().key }).headers,
  retryAfterUnit: refused,
  retryAfterFormat: refused,
  retryAfterRounding: (core) => {
    const { key } = core.createKey();
    burst(core, key, 30);
    return [300, 500].map((ms) => {
      core.now += ms;
      return core.send(LATEST, { key }).headers['retry-after'];
    });
  },
  retryAfterMin: refused,
  retryAfterValue: refused,
  checkOrder: (core) => {
    const { id, key } = core.createKey();
    burst(core, key, 30);
    core.keys.setUsage(id, { month: 1000 });
    return burst(core, key, 1);
  },
  quotaChargesOn: (core) => {
    const { id, key } = core.createKey();
    core.send(`${LATEST}?base=XXX`, { key });
    core.send(`${LATEST}?base=500`, { key });
    return core.keys.get(id).month.used;
  },
  quotaPeriod: (core) => {
    const { key } = core.createKey();
    core.now += 2 * 86_400_000;
    core.send(LATEST, { key });
    core.now += 86_400_000;
    return core.send(QUOTA, { key }).data.resets_at;
  },
  quotaExhausted: (core) => core.send(LATEST, { key: withoutQuota(core).key }).status,
  quotaRetryAfter: (core) => core.send(LATEST, { key: withoutQuota(core).key }).headers,
  unlimitedFairUse: (core) => {
    const { id, key } = core.createKey('unlimited');
    core.keys.setUsage(id, { month: 1_000_000 });
    return burst(core, key, 1);
  },
  unlimitedAs: (core) => core.send(QUOTA, { key: core.createKey('unlimited').key }).data,
  snapshotGranularity: (core) => core.send(QUOTA, { key: core.createKey().key }).data,
  missingKey: (core) => core.send(LATEST).body,
  malformedKey: (core) => core.send(LATEST, { key: 'nonsense' }).body,
  unknownKey: (core) => core.send(LATEST, { key: `fx_live_${'0'.repeat(48)}` }).body,
  revokedKey: (core) => {
    const { id, key } = core.createKey();
    core.keys.revoke(id);
    return core.send(LATEST, { key }).body;
  },
  severalCredentials: (core) => {
    const [header, query] = [core.createKey('free'), core.createKey('developer')];
    return core.send(`${QUOTA}?api_key=${query.key}`, { key: header.key }).body;
  },
  wwwAuthenticate: (core) => core.send(LATEST).headers,
  freeMaxActiveKeys: (core) => {
    const { accountId } = core.createKey();
    return Array.from({ length: 4 }, () => typeof failureOf(() => core.keys.create({ accountId }).id));
  },
  keyLimitReached: (core) => failureOf(() => core.keys.create({ accountId: core.createKey().accountId })),
  unconfirmedEmail: (core) => failureOf(() => core.keys.create({ accountId: core.accounts.create().id })),
  planChange: (core) => {
    const { id, key, accountId } = core.createKey();
    burst(core, key, 5);
    core.accounts.setPlan(accountId, 'developer');
    return core.keys.get(id).month.used;
  },
  overCapKeys: (core) => {
    const { account, keys } = developer(core);
    core.accounts.setPlan(account.id, 'free');
    const small = keys.map(({ key }) => core.send(QUOTA, { key }).status);
    core.accounts.setPlan(account.id, 'developer');
    return [small, keys.map(({ key }) => core.send(QUOTA, { key }).status)];
  },
  keyPrefix: (core) => core.createKey().key,
  unknownRoute: (core) => core.send('/api/v1/nothing').status,
  methodNotAllowed: (core) => core.send(LATEST, { method: 'POST' }).body,
  headRequests: (core) => core.send(LATEST, { method: 'HEAD', key: core.createKey().key }).status,
  optionsRequests: (core) => core.send(LATEST, { method: 'OPTIONS' }).status,
  badParameter: (core) => core.send(`${LATEST}?base=XXX`, { key: core.createKey().key }).status,
  unknownParameters: (core) => core.send(`${LATEST}?bse=EUR`, { key: core.createKey().key }).status,
  cors: (core) => {
    const headers = { origin: 'https://page.test', 'access-control-request-method': 'GET' };
    return core.send(LATEST, { method: 'OPTIONS', headers }).status;
  },
  etag: (core) => core.send(LATEST, { key: core.createKey().key, headers: { 'if-none-match': '"other"' } }).headers,
};

/** The other switches that the demonstration of a switch requires. */
const BESIDES: { readonly [Name in SwitchName]?: BehaviourOptions } = { retryAfterMin: { retryAfterRounding: 'down' } };

/** `latest` with a base that causes an error in the mock, for the switches that distinguish a 500 from a 400. */
function tell(name: SwitchName, behaviour: BehaviourOptions) {
  const core = new MockCore({ behaviour: { ...BESIDES[name], ...behaviour }, ...brokenBase });
  return { outcome: JSON.stringify(demonstrations[name](core)), core };
}

const { responders } = new MockCore();
const brokenBase = {
  responders: {
    latest: ((routed, admission) => {
      if (routed.request.target.parameters.get('base') === '500') throw new Error('broken');
      return responders.latest(routed, admission);
    }) satisfies typeof responders.latest,
  },
};

test.each(SWITCH_NAMES)('%s: every value of the switch has a different outcome', (name) => {
  const { default: byDefault, alternatives } = switches[name];

  const outcomes = [byDefault, ...alternatives].map((value) => tell(name, { [name]: value }).outcome);

  expect(new Set(outcomes).size).toBe(alternatives.length + 1);
});

test.each(SWITCH_NAMES)('%s: without the option, the switch has its default', (name) => {
  expect(tell(name, {}).outcome).toBe(tell(name, { [name]: switches[name].default }).outcome);
});

const OF_THE_DASHBOARD: readonly SwitchName[] = [
  'freeMaxActiveKeys',
  'keyLimitReached',
  'unconfirmedEmail',
  'planChange',
  'keyPrefix',
];

test.each(SWITCH_NAMES.filter((name) => !OF_THE_DASHBOARD.includes(name)))(
  '%s: the journal lists the switch for a response that depends on it',
  (name) => {
    const { core } = tell(name, {});

    expect(core.journal.entries.flatMap(({ switches: used }) => used)).toContain(name);
  },
);

test('every switch names its x-not-shown entry in openapi.yaml', () => {
  for (const name of SWITCH_NAMES) expect(Object.keys(notShown)).toContain(switches[name].notShown);
});
