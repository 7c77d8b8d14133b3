import { expect, test } from 'vitest';
import { MockCore } from '../../helpers/mock-core.ts';

/** Status of a request with this key, and the reason in the journal. */
function responseTo(core: MockCore, key: string | undefined) {
  const { status } = core.send('/api/v1/quota', key === undefined ? {} : { key });
  return [status, core.journal.entries.at(-1)?.why];
}

test('the journal has the reason for a request that is refused for its key', () => {
  const core = new MockCore();
  const { id, key } = core.createKey();
  const unknown = `fx_live_${'0'.repeat(48)}`;

  const refused = [undefined, 'no-key', `${unknown}0`, unknown].map((sent) => responseTo(core, sent));
  core.keys.revoke(id);

  expect([...refused, responseTo(core, key)]).toEqual([
    [401, expect.stringContaining('the request has no API key')],
    [401, expect.stringContaining('the credential does not look like an API key')],
    [401, expect.stringContaining('the credential does not look like an API key')],
    [401, expect.stringContaining('this mock never created this key')],
    [401, expect.stringContaining('key_1 is revoked')],
  ]);
});

test('a revoked key works until its delay has passed', () => {
  const core = new MockCore({ behaviour: { revocationDelayMs: 5000 }, unsafe: true });
  const { id, key } = core.createKey();
  core.keys.revoke(id);

  core.now += 4999;
  const before = responseTo(core, key);
  core.now += 1;

  expect([before[0], responseTo(core, key)[0]]).toEqual([200, 401]);
});

test('the reason names a key above the cap of its plan', () => {
  const core = new MockCore({ behaviour: { overCapKeys: 'block' } });
  const { id: accountId } = core.accounts.create({ plan: 'developer' });
  core.accounts.confirm(accountId);
  const [, second] = [1, 2].map(() => core.keys.create({ accountId }));

  core.accounts.setPlan(accountId, 'free');

  expect(responseTo(core, second!.key)).toEqual([
    401,
    expect.stringContaining('key_2 is above the cap of the free plan'),
  ]);
});

test.each(['api_key', 'api%5Fkey', 'api%5fkey', '%61%70%69%5F%6B%65%79', '%61pi_key'])(
  'reads the key of the parameter %s',
  (name) => {
    const core = new MockCore();
    const { id, key } = core.createKey();

    const { status } = core.send(`/api/v1/quota?base=EUR%2CUSD&${name}=${key}`);

    expect(status).toBe(200);
    expect(core.journal.entries.at(-1)).toMatchObject({ keyId: id, keyTransport: 'query', hasKeyInUrl: true });
  },
);

test('a key of another form is also reported in a URL if the name of the parameter is encoded', () => {
  const core = new MockCore();

  core.send('/api/v1/quota?api%5Fkey=another-form');

  expect(core.journal.entries.at(-1)).toMatchObject({ hasKeyInUrl: true, query: { api_key: '…' } });
});

test('the name of the parameter api_key is case-sensitive', () => {
  const core = new MockCore();
  const { key } = core.createKey();

  expect(core.send(`/api/v1/quota?API%5FKEY=${key}`).status).toBe(401);
});
