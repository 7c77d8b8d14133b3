import { expect, test } from 'vitest';
import { presetValues } from '../../../src/mock-server/behaviour/behaviour.ts';
import { SWITCH_NAMES, switches } from '../../../src/mock-server/behaviour/switches.ts';
import { createMockServer } from '../../../src/mock-server/index.ts';

const undocumented = SWITCH_NAMES.filter((name) => switches[name].provenance !== 'documented');
const defaults = createMockServer().behaviour.values;

test('the preset documented keeps all defaults, as assumptions', () => {
  const { behaviour } = createMockServer({ behaviour: 'documented' });

  expect(behaviour.values).toEqual(defaults);
  expect(behaviour.describe().filter(({ accepted }) => accepted)).toMatchObject([{ name: 'revocationDelayMs' }]);
});

test.each(['lenient', 'hostile'] as const)(
  '%s chooses a value for every switch, and nothing that is documented',
  (name) => {
    const { behaviour } = createMockServer({ behaviour: name });

    expect(Object.keys(presetValues(name)).sort()).toEqual([...undocumented].sort());
    expect(behaviour.values).toEqual({ ...defaults, ...presetValues(name) });
    expect(behaviour.describe().every(({ accepted }) => accepted)).toBe(true);
  },
);

test('lenient and hostile differ in most switches', () => {
  const different = undocumented.filter((name) => switches[name].lenient !== switches[name].hostile);

  expect(different.length).toBeGreaterThan(25);
});

test('values beside a preset override it', () => {
  const { values } = createMockServer({ behaviour: { preset: 'hostile', rateWindow: 'token-bucket' } }).behaviour;

  expect([values.rateWindow, values.missingKey]).toEqual(['token-bucket', '403 forbidden']);
});

test('a preset set later replaces every switch; a single switch only itself', () => {
  const { behaviour } = createMockServer({ behaviour: { quotaPeriod: 'anniversary' } });

  behaviour.set({ unlimitedAs: -1 });
  expect([behaviour.values.quotaPeriod, behaviour.values.unlimitedAs]).toEqual(['anniversary', -1]);

  behaviour.set('lenient');
  expect(behaviour.values).toEqual({ ...defaults, ...presetValues('lenient') });

  behaviour.set('documented');
  expect(behaviour.values).toEqual(defaults);
});

test('rejects an unknown preset with the list of presets', () => {
  expect(() => createMockServer({ behaviour: { preset: 'strict' as never } })).toThrow(
    'behaviour.preset is "strict"; expected one of documented, lenient, hostile.',
  );
});

test('the preset survives a reset and a snapshot', () => {
  const mock = createMockServer({ behaviour: 'hostile' });
  const before = mock.behaviour.describe();

  mock.behaviour.set('lenient');
  mock.reset();
  expect(mock.behaviour.describe()).toEqual(before);

  mock.restore(JSON.parse(JSON.stringify(mock.snapshot())));
  expect(mock.behaviour.describe()).toEqual(before);
});
