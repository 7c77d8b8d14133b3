import { expect, test } from 'vitest';
import { notShown } from '../../src/generated/service.ts';
import { SWITCH_NAMES, type SwitchName, switches } from '../../src/mock-server/behaviour/switches.ts';

const code = (value: unknown) => `\`${value === null ? 'null' : value}\``;

function rowOf(name: SwitchName): string {
  const { default: byDefault, alternatives, lenient, hostile, provenance, notShown: id, why } = switches[name];
  const others = (alternatives as readonly unknown[]).map(code).join(', ');
  const standsFor = id === undefined ? '' : notShown[id];
  const ofPresets = [lenient, hostile].map(code).join(' / ');
  return `| \`${name}\` | ${code(byDefault)} | ${others} | ${ofPresets} | ${provenance} | ${standsFor} | ${why} |`;
}

const page = `# Switches of the mock server

Written by \`npx vitest run test/docs/switches.test.ts -u\` from \`src/mock-server/behaviour/\`. Do not edit.

What the service does not show, the mock takes an assumption for. Each has a name; another value is an option:

\`\`\`ts no-run
createMockServer({ behaviour: { rateWindow: 'token-bucket', quotaExhausted: '402 quota_exceeded' } });
createMockServer({ behaviour: 'hostile' });                                  // a preset: documented, lenient, hostile
createMockServer({ behaviour: { preset: 'hostile', rateWindow: 'fixed-epoch' } });
createMockServer({ onAssumption: 'error' });                                 // 501 for what nobody has chosen
test.each(behaviourMatrix(['rateWindow', 'retryAfterUnit']))('survives $title', async ({ behaviour }) => { /* … */ });
\`\`\`

\`documented\` keeps every default. \`lenient\` refuses least and tells most; \`hostile\` is what is least convenient for a
client. \`fxrates probe\` finds out what it can about the real service and writes a file for \`behaviour\` and
\`fxrates mock --behaviour\`. A number or a text among the values stands for others like it.

| switch | default | other values | lenient / hostile | provenance | not shown by the service | why |
|---|---|---|---|---|---|---|
${SWITCH_NAMES.map(rowOf).join('\n')}
`;

test('docs/switches.md tells of every switch what it is', async () => {
  await expect(page).toMatchFileSnapshot('../../docs/switches.md');
});
