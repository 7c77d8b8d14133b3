import { expect, test } from 'vitest';
import { servedMock } from '../../helpers/served-mock.ts';

async function connected(...options: Parameters<typeof servedMock>) {
  const served = await servedMock(...options);
  const call = async (key: string, path?: string) => (await served.call(key, path)).status;
  return { ...served, call };
}

test('another process can open a space with its own key, clock, switches, faults, journal and state', async () => {
  await using it = await connected();
  const { mock, remote, call } = it;
  await using space = await remote.space({ name: 'worker-1', plan: 'developer', behaviour: 'lenient' });
  const start = mock.clock.now();

  await space.faults.add({ kind: 'status', status: 503, times: 1 });
  expect([await call(space.key), await call(space.key)]).toEqual([503, 200]);
  await space.clock.advance(60_000);
  const full = await space.snapshot();
  await space.keys.setUsage(space.keyId, { month: 100_000 });
  expect(await call(space.key)).not.toBe(200);
  await space.restore(full);
  expect(await call(space.key)).toBe(200);

  await space.expectRequests({ status: 200 }).toHaveCount(1);
  expect(await space.clock.now()).toBe(start + 60_000);
  expect((await space.accounts.get(space.accountId)).plan).toBe('developer');
  expect(mock.clock.now()).toBe(start);
  expect(mock.faults.list()).toEqual([]);
  expect(mock.journal.list()).toEqual([]);
});

test('rejects a reset while spaces are open; closeSpaces() closes those of a killed worker', async () => {
  await using it = await connected();
  const { remote, call } = it;
  const space = await remote.space();
  await remote.space();

  await expect(remote.reset()).rejects.toMatchObject({ code: 'spaces_live', status: 409 });
  await space.reset();
  expect(await remote.closeSpaces()).toEqual(['space_1', 'space_2']);
  expect(await remote.closeSpaces()).toEqual([]);
  await remote.reset();

  expect(await call(space.key)).toBe(401);
  await expect(space.clock.now()).rejects.toMatchObject({ code: 'not_found', status: 404 });
});

test('a space can have another kind of clock and start time', async () => {
  await using it = await connected({ clock: 'real' });
  const { remote } = it;

  const space = await remote.space({ clock: { mode: 'virtual', now: new Date('2030-01-01') } });

  expect(await space.clock.now()).toBe(Date.UTC(2030, 0));
});

test.each([
  ['POST', '/spaces', { name: 'a b' }, 400],
  ['POST', '/spaces', { nam: 'x' }, 400],
  ['POST', '/spaces', { plan: 'gold' }, 400],
  ['POST', '/spaces', { clock: { mode: 'virtual', now: '2026-02-30T00:00:00Z' } }, 400],
  ['GET', '/spaces/nobody/clock', undefined, 404],
  ['DELETE', '/spaces/nobody', undefined, 404],
  ['POST', '/spaces/one/spaces', {}, 404],
  ['DELETE', '/spaces/one/spaces', undefined, 404],
  ['DELETE', '/spaces?name=one', undefined, 400],
  ['GET', '/spaces/one/nothing', undefined, 404],
  ['GET', '/spaces/one/health', undefined, 200],
] as const)('%s %s %j returns %i', async (method, path, body, status) => {
  await using it = await connected();
  it.mock.space({ name: 'one' });

  const response = await it.admin(method, path, body);

  expect(response.status).toBe(status);
});
