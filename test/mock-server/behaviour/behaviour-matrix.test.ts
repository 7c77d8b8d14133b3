import { expect, test } from 'vitest';
import { SWITCH_NAMES, switches } from '../../../src/mock-server/behaviour/switches.ts';
import { behaviourMatrix, createMockServer } from '../../../src/mock-server/index.ts';

test('returns the defaults, then every other value alone; a name given twice counts once', () => {
  const cases = behaviourMatrix(['retryAfterUnit', 'quotaExhausted', 'quotaExhausted']);

  expect(cases.map(({ title, behaviour }) => [title, Object.values(behaviour)])).toEqual([
    ['defaults', ['seconds', '429 quota_exceeded']],
    ['retryAfterUnit: milliseconds', ['milliseconds', '429 quota_exceeded']],
    ['quotaExhausted: 402 quota_exceeded', ['seconds', '402 quota_exceeded']],
    ['quotaExhausted: 403 quota_exceeded', ['seconds', '403 quota_exceeded']],
  ]);
});

test('without names, covers every value of every undocumented switch, and a mock accepts each case', () => {
  const undocumented = SWITCH_NAMES.filter((name) => switches[name].provenance !== 'documented');
  const others = undocumented.flatMap((name): readonly unknown[] => switches[name].alternatives);

  const cases = behaviourMatrix();

  expect(cases).toHaveLength(1 + others.length);
  expect(new Set(cases.map(({ title }) => title)).size).toBe(cases.length);
  for (const { title, behaviour } of cases) {
    const mock = createMockServer({ behaviour, onAssumption: 'error' });
    expect([title, mock.behaviour.values]).toMatchObject([title, behaviour]);
    expect(mock.behaviour.describe().filter(({ accepted }) => !accepted)).toEqual([]);
  }
});

test.each(['rateWindows', 'revocationDelayMs'])('the name %s is refused, as it is no undocumented switch', (name) => {
  expect(() => behaviourMatrix([name as never])).toThrow(`names is "${name}"; expected one of rateWindow,`);
});
