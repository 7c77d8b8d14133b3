import { join } from 'node:path';
import * as z from 'zod';
import { SWITCH_NAMES, switches } from '../../src/mock-server/behaviour/switches.ts';
import { type FaultKind, faultKinds } from '../../src/mock-server/faults/fault-kinds.ts';
import type { DocComment } from './doc-comment.ts';
import { fieldOf, type JsonSchema, type Property, propertiesOf } from './json-schema.ts';
import { readDeclarations, readPropertyDocs } from './read-declarations.ts';
import { blocks, type Section, writeDeclarations } from './write-declarations.ts';

const PARTS: readonly (readonly [declaration: string, property: string])[] = [
  ['Accounts', 'accounts'],
  ['Keys', 'keys'],
  ['Outbox', 'outbox'],
  ['MockClock', 'clock'],
  ['MockBehaviour', 'behaviour'],
  ['MockLatest', 'latest'],
  ['MockStubs', 'stubs'],
  ['MockFaults', 'faults'],
  ['MockJournal', 'journal'],
  ['Snapshots', 'snapshots'],
];

const SECTIONS: readonly Section[] = [
  { title: 'Functions', whole: ['createMockServer', 'connectMockServer', 'interceptUndici', 'behaviourMatrix'] },
  { title: 'Options of `createMockServer`', members: [['MockServerOptions', '']] },
  { title: 'Mock server', members: [['MockServer', 'mock.']] },
  ...PARTS.map(([name, property]): Section => ({ title: `mock.${property}`, members: [[name, `mock.${property}.`]] })),
  { title: 'Expectations', members: [['RequestExpectation', 'expectRequests().']] },
  { title: 'Options of `mock.serve()`', members: [['ServeOptions', '']], whole: ['RunningServer'] },
  { title: 'Options of `mock.space()`', members: [['SpaceOptions', '']], whole: ['Space'] },
  { title: 'Options of a stub', members: [['StubOptions', '']], whole: ['StubResponse'] },
  { title: 'Requests to match', whole: ['RequestPattern', 'RequestFilter', 'ValuePattern', 'FaultMatch'] },
  { title: 'Mock server in another process', whole: ['RemoteMockServer', 'RemoteScope', 'RemoteSpace', 'Remote'] },
  {
    title: 'Probe',
    members: [['ProbeOptions', '']],
    whole: ['probeService', 'planProbe', 'ProbePlan', 'ProbeSummary'],
  },
  { title: 'Errors', members: [['MockServerError', 'error.']] },
];

export function mockPage(root: string): string {
  const source = join(root, 'src/mock-server');
  const faultFile = join(source, 'faults/fault-kinds.ts');
  const declarations = readDeclarations(join(source, 'index.ts'));
  const msw = readDeclarations(join(source, 'msw/index.ts'));
  return blocks([
    '# Mock server: reference',
    INTRO,
    writeDeclarations(declarations, SECTIONS, [
      faults(faultFile),
      switchTable(readSwitchDocs(root)),
      writeDeclarations(msw, [{ title: '`fxrates/msw`', whole: Array.from(msw.keys()) }]),
    ]),
  ]);
}

const INTRO = `Everything \`fxrates/mock-server\` and \`fxrates/msw\` export, the kinds of faults, and the switches. For their use, see
[mock-server.md](../mock-server.md) and [testing.md](../testing.md).`;

/** Kinds and settings from their zod schemas, with the comments above them as descriptions. */
function faults(file: string): string {
  const kinds = readPropertyDocs(file, 'faultKinds');
  const conditions = readPropertyDocs(file, 'conditions');
  const [first] = Object.values(faultKinds);
  const all = propertiesOf(inputSchema(first?.options));
  const shared = all.filter(({ name }) => conditions.has(name));
  return blocks([
    '## Faults',
    '`mock.faults.add({ kind, … })` takes the settings of the kind and the conditions below.',
    ...Object.keys(faultKinds).map((kind) =>
      faultKind(kind as FaultKind, kinds.get(kind), readPropertyDocs(file, 'faultKinds', [kind, 'settings'])),
    ),
    '### Conditions of every fault',
    shared.map((property) => condition(property, conditions.get(property.name))).join('\n'),
  ]);
}

function faultKind(kind: FaultKind, doc: DocComment | undefined, settingDocs: ReadonlyMap<string, DocComment>): string {
  const { effect, adapters, canStrikeBefore } = faultKinds[kind];
  const settings = propertiesOf(inputSchema(effect)).filter(({ name }) => name !== 'kind');
  const lines = settings.map((property) => lineOf(property, settingDocs.get(property.name)));
  return blocks([
    `### \`${kind}\``,
    ...(doc?.paragraphs ?? []),
    [
      ...lines,
      `- Adapters: ${adapters.map((name) => `\`${name}\``).join(', ')}`,
      `- Strikes: ${canStrikeBefore ? "`'after'` (default) or `'before'`" : "`'after'`"}`,
    ].join('\n'),
  ]);
}

function condition(property: Property, doc: DocComment | undefined): string {
  // It has a section of its own.
  if (property.name === 'match')
    return '- `match?: FaultMatch`: Pattern of the requests to strike (see [FaultMatch](#{FaultMatch})).';
  return lineOf(property, doc);
}

function lineOf(property: Property, doc: DocComment | undefined): string {
  const byDefault = doc?.byDefault === undefined ? [] : [`Default: ${doc.byDefault}.`];
  return `- \`${fieldOf(property)}\`: ${[...(doc?.paragraphs ?? []), ...byDefault].join(' ')}`;
}

function inputSchema(schema: z.ZodType | undefined): JsonSchema {
  return schema === undefined ? {} : (z.toJSONSchema(schema, { io: 'input' }) as JsonSchema);
}

/** The description of each switch, and its default. */
export function readSwitchDocs(root: string): ReadonlyMap<string, DocComment> {
  const folder = join(root, 'src/mock-server/behaviour');
  return new Map(
    SWITCH_FILES.flatMap(([file, groups]) =>
      groups.flatMap((group) => Array.from(readPropertyDocs(join(folder, file), group))),
    ),
  );
}

/** The constants that define switches. */
const SWITCH_FILES = [
  ['limit-switches.ts', ['rateSwitches', 'quotaSwitches']],
  ['switches.ts', ['authenticationSwitches', 'accountSwitches', 'httpSwitches']],
] as const;

function switchTable(docs: ReadonlyMap<string, DocComment>): string {
  const rows = SWITCH_NAMES.map((name) => {
    const meaning = docs.get(name)?.paragraphs.join(' ');
    return `| \`${name}\` | ${meaning} | \`${String(switches[name].default)}\` | ${switches[name].expected} |`;
  });
  const head = ['| switch | meaning | default | values |', '|---|---|---|---|'];
  return blocks([
    '## Switches',
    'Names for the option `behaviour` and `mock.behaviour.set()`. What each one changes is in [switches.md](../switches.md).',
    [...head, ...rows.map((row) => row.replaceAll('\\|', '&#124;'))].join('\n'),
  ]);
}
