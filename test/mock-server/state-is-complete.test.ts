import { expect, test } from 'vitest';
import { createMockFaults } from '../../src/mock-server/faults/mock-faults.ts';
import { createMockServer } from '../../src/mock-server/index.ts';
import { createMockStubs } from '../../src/mock-server/stubs/mock-stubs.ts';
import { MockCore } from '../helpers/mock-core.ts';
import { mutableState } from '../helpers/mutable-state.ts';

/** Every path from this value to one that can change. */
function paths(value: unknown, path = ''): string[] {
  if (value instanceof Map) return paths([...value.values()][0], `${path}.*`);
  if (Array.isArray(value)) return paths(value[0], `${path}[]`);
  // An object that serializes itself counts as one field.
  if (typeof value !== 'object' || value === null || 'save' in value) return [path];
  return Object.entries(value).flatMap(([name, inner]) =>
    // Already visited from the other end.
    name === 'account' || (name === 'keys' && path.includes('accounts')) ? [] : paths(inner, `${path}.${name}`),
  );
}

test('every field of the state is in a snapshot or in the list of exceptions', () => {
  const core = new MockCore();
  const { key } = core.createKey();
  core.send('/api/v1/latest', { key });
  createMockFaults(core.context).add({ kind: 'hang' });
  createMockStubs(core.context).add({ data: {} });

  const fields = paths(core.context.state).map((path) => path.replace(/^\.(accounts|keys|keysByHash)\.\*/, '.$1'));

  // `activeKeys` and `keysByHash` are derived.
  expect([...new Set(fields)].sort()).toEqual(
    [
      ...['id', 'email', 'createdAt', 'plan', 'isConfirmed', 'activeKeys'].map((name) => `.accounts.${name}`),
      ...['keys', 'keysByHash'].flatMap((map) =>
        [
          ...['id', 'hash', 'prefix', 'lastFour', 'createdAt', 'revokedAt', 'usedFrom', 'used', 'retryAt'],
          ...['quotaEndpointWindow', 'window'],
        ].map((name) => `.${map}.${name}`),
      ),
      ...['id', 'accountId', 'to', 'sentAt'].map((name) => `.mails[].${name}`),
      ...['.random', '.seed', '.lastAccount', '.lastKey', '.lastMail', '.lastFault', '.lastSpace', '.lastStub'],
      ...['kind', 'id', 'strikes'].map((name) => `.faults[].settings.${name}`),
      ...['addedAt', 'matched', 'struck', 'matchedByKey.*'].map((name) => `.faults[].${name}`),
      ...['id', 'times', 'priority', 'served', 'source.kind'].map((name) => `.stubs[].${name}`),
      ...['status', 'body', 'code'].map((name) => `.stubs[].source.responses[].${name}`),
    ].sort(),
  );
  const saved = createMockServer().snapshot();
  expect(Object.keys(saved).sort()).toEqual(
    [
      ...[
        'accounts',
        'behaviour',
        'faults',
        'keys',
        'mails',
        'lastAccount',
        'lastFault',
        'lastKey',
        'lastMail',
        'lastSpace',
        'lastStub',
        'stubs',
      ],
      ...['now', 'frozen', 'random', 'seed', 'version'],
    ].sort(),
  );
});

const IN_THE_SNAPSHOT = {
  'behaviour/behaviour.ts': ['#settings'],
  'clock/real-clock.ts': ['#frozenAt', '#aheadMs', '#latest', '#setBackMs', '#date'],
  'clock/virtual-clock.ts': ['#isFrozen', '#now'],
  'service/random.ts': ['a', 'b', 'c', 'd'],
  'service/rate-windows.ts': [
    ...['#minute', '#count', '#openedAt', '#previous', '#current'],
    ...['#times', '#first', '#missing', '#missingAt'],
  ],
};

/** Cached results, which never change. */
const DERIVED = {
  'admin/admin-server.ts': ['seen'],
  'admin/admin.ts': ['loaded'],
  'redact-keys.ts': ['SECRET_HEADERS'],
  'http/responses.ts': ['STATUSES_WITHOUT_BODY'],
  'panel/browser/journal-entries.ts': ['LEFT_OUT'],
  'panel/panel-files.ts': ['bundled'],
  'rates/latest.ts': ['snapshots'],
};

/** State of a current request, wait, connection or server, or of the code that controls the mock. */
const OF_THE_MOMENT = {
  'adapters/node-server.ts': ['pending'],
  'adapters/tls-server.ts': ['connections'],
  'http/respond.ts': ['warned'],
  'handle.ts': ['entry'],
  'clock/real-clock.ts': ['#stopTimer', '#setTimeout', '#target'],
  'clock/timer-queue.ts': ['#heap', '#added'],
  'clock/virtual-clock.ts': [
    ...['#isWatching', '#lastMove', '#moves'],
    ...['#activity', '#held', 'isDone', '#expecting'],
  ],
  'delay.ts': ['#waiting'],
  'adapters/active-adapters.ts': ['#open'],
  'initial-state.ts': ['ids'],
  'state/snapshot.ts': ['seen'],
  'mock-server.ts': ['#servers', '#stopListening', '#closeMsw'],
  'panel/browser/use-mock.ts': ['fresh', 'isLoading'],
  'probe/prober.ts': ['observed', 'reasons', 'contradictions', 'requests'],
  'probe/probe.ts': ['left'],
  'start-server.ts': ['closed'],
  'state/state-file.ts': ['#hasChanged', '#saving'],
};

/** Excluded from snapshots by the documentation. */
const LEFT_OUT = {
  'adapters/overrides.ts': ['#handlers', 'isEmpty'],
  'journal/journal.ts': ['#ring', '#last', '#listeners', '#spaceListeners', '#closeListeners'],
};

test('all other mutable variables of the mock are listed with their role for snapshots', () => {
  const known = [IN_THE_SNAPSHOT, DERIVED, OF_THE_MOMENT, LEFT_OUT].flatMap((files) =>
    Object.entries(files).flatMap(([file, names]) => names.map((name) => `${file} ${name}`)),
  );

  expect(mutableState('src/mock-server')).toEqual(expect.arrayContaining(known));
  expect(mutableState('src/mock-server').filter((name) => !known.includes(name))).toEqual([]);
});
