import { expect, test } from 'vitest';
import { operations } from '../../src/generated/operations.ts';
import { createMockFaults } from '../../src/mock-server/faults/mock-faults.ts';
import { WaysIn } from '../../src/mock-server/faults/ways-in.ts';
import { createMockServer } from '../../src/mock-server/index.ts';
import { sendConfirmation } from '../../src/mock-server/service/outbox.ts';
import { MockCore } from '../helpers/mock-core.ts';

/** Every path to a value that may change, from here down. */
function paths(value: unknown, path = ''): string[] {
  if (value instanceof Map) return paths([...value.values()][0], `${path}.*`);
  if (Array.isArray(value)) return paths(value[0], `${path}[]`);
  // What saves itself is a field as a whole.
  if (typeof value !== 'object' || value === null || 'save' in value) return [path];
  return Object.entries(value).flatMap(([name, inner]) =>
    // Seen from the other end already.
    name === 'account' || (name === 'keys' && path.includes('accounts')) ? [] : paths(inner, `${path}.${name}`),
  );
}

test('every field of the state is in a snapshot: whoever adds one has to say what becomes of it', () => {
  const core = new MockCore();
  const { key } = core.createKey();
  core.send('/api/v1/latest', { key });
  createMockFaults({ context: core.context, operations, ways: new WaysIn() }).add({ kind: 'hang' });
  for (const account of core.context.state.accounts.values()) sendConfirmation(core.context, account);

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
      ...['id', 'accountId', 'to', 'token', 'sentAt', 'isUsed'].map((name) => `.mails[].${name}`),
      ...['.random', '.seed', '.lastAccount', '.lastKey', '.lastMail', '.lastFault', '.lastSpace'],
      ...['kind', 'id', 'strikes'].map((name) => `.faults[].settings.${name}`),
      ...['addedAt', 'matched', 'struck', 'matchedByKey.*'].map((name) => `.faults[].${name}`),
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
      ],
      ...['now', 'frozen', 'random', 'seed', 'version'],
    ].sort(),
  );
});
