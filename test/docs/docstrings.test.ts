import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { type Declaration, type Member, readDeclarations } from '../../scripts/reference/read-declarations.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The entry points of the package, from the configuration of its build. */
const library = readFileSync(join(root, 'tsup.config.ts'), 'utf8').match(
  /const LIBRARY = \{\n {2}entry: \{(.*?)\}/s,
)?.[1];
const entries = Array.from(library?.matchAll(/'?([\w-]+)'?: '(src\/[^']+)'/g) ?? [], ([, name = '', file = '']) => ({
  name,
  declarations: readDeclarations(join(root, file)),
}));

test('finds the entry points of the package', () => {
  expect(entries.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['index', 'file-store', 'redis', 'mock-server', 'msw']),
  );
});

test.each(entries)(
  'everything that $name exports has a docstring, and so has every member',
  ({ name, declarations }) => {
    const missing = Array.from(declarations.values()).flatMap((declaration) => [
      ...(hasText(declaration) ? [] : [declaration.name]),
      ...declaration.members
        .filter((member) => !isDocumented(member, declaration, declarations))
        .map((member) => `${declaration.name}.${member.name}`),
    ]);

    expect(missing.filter((path) => !isException(name, path))).toEqual([]);
  },
);

test.each(entries)('every optional option that $name exports names its default', ({ name, declarations }) => {
  const missing = Array.from(declarations.values())
    .filter((declaration) => /(Options|Hooks|^AppInfo)$/.test(declaration.name))
    .flatMap((declaration) =>
      declaration.members
        .filter(({ isOptional, doc }) => isOptional && doc.byDefault === undefined)
        .map((member) => `${declaration.name}.${member.name}`),
    );

  expect(missing.filter((path) => !isException(name, path))).toEqual([]);
});

type Declarations = ReadonlyMap<string, Declaration>;

function hasText({ doc }: Pick<Declaration, 'doc'>): boolean {
  return doc.paragraphs.length > 0;
}

/** By itself, by the member that it overrides, or by the exported declaration that is its type. */
function isDocumented(member: Member, { bases }: Declaration, declarations: Declarations): boolean {
  const isIndexSignature = member.name.startsWith('[') && !member.name.startsWith('[Symbol.');
  if (isIndexSignature || hasText(member)) return true;
  const type = declarations.get(member.type);
  if (type !== undefined && hasText(type)) return true;
  return bases.some((base) => {
    const declaration = declarations.get(base.replace(/<.*$/, ''));
    return declaration?.members.some((inherited) => inherited.name === member.name && hasText(inherited)) ?? false;
  });
}

/** Of `fxrates/mock-server`: still to be documented. */
const EXCEPTIONS = `
Fetch InterceptedUndici.close MswServer.listHandlers MswHandler.info MswHandler.run
RemoteScope.accounts RemoteScope.keys RemoteScope.outbox RemoteScope.snapshots RemoteScope.faults RemoteScope.stubs
RemoteScope.latest RemoteScope.clock RemoteScope.behaviour RemoteScope.journal MatrixOptions KnownValue.value SwitchName
ClockOptions FaultKind SubscribeOptions WaitOptions MockServer.[Symbol.asyncDispose] MockServerError.name ProbeFetch
CreateAccountOptions Snapshot.version Snapshot.seed Snapshot.random Snapshot.lastAccount Snapshot.lastKey
Snapshot.accounts Snapshot.keys Snapshot.mails Snapshot.lastMail Snapshot.faults Snapshot.lastFault Snapshot.lastSpace
Snapshot.lastStub Space.[Symbol.asyncDispose] SpaceOptions RunningServer.port ServeOptions LatestOptions
StubAnswer.status StubAnswer.body MockServerOptions.replay ProbeOptions.signal StubOptions.responses
`.split(/\s+/);

function isException(entry: string, path: string): boolean {
  return entry === 'mock-server' && EXCEPTIONS.includes(path);
}
