import { readdirSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { createMockFaults } from '../../src/mock-server/faults/mock-faults.ts';
import { createMockServer } from '../../src/mock-server/index.ts';
import { createMockStubs } from '../../src/mock-server/stubs/mock-stubs.ts';
import { MockCore } from '../helpers/mock-core.ts';

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
      ...['addedAt', 'matched', 'struck'].map((name) => `.faults[].${name}`),
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
  'clock/driven-clock.ts': ['#frozenAt', '#aheadMs', '#latest', '#setBackMs', '#date'],
  'service/random.ts': ['a', 'b', 'c', 'd'],
  'service/rate-windows.ts': [
    ...['#minute', '#count', '#openedAt', '#previous', '#current'],
    ...['#times', '#first', '#missing', '#missingAt'],
  ],
};

/** Cached results, which never change. */
const DERIVED = {
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
  'clock/driven-clock.ts': [
    ...['#stopTimer', '#setTimeout', '#isWatching', '#lastMove', '#moves'],
    ...['activity', '#held', '#expecting', '#heap', '#added'],
  ],
  'delay.ts': ['#waiting'],
  'adapters/active-adapters.ts': ['#open'],
  'initial-state.ts': ['ids'],
  'state/snapshot.ts': ['seen'],
  'mock-scope.ts': ['#clientClock'],
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
  'journal/journal.ts': ['#ring', '#last', '#subscriptions'],
};

test('all other mutable variables of the mock are listed with their role for snapshots', () => {
  const known = [IN_THE_SNAPSHOT, DERIVED, OF_THE_MOMENT, LEFT_OUT].flatMap((files) =>
    Object.entries(files).flatMap(([file, names]) => names.map((name) => `${file} ${name}`)),
  );

  expect(mutableState('src/mock-server')).toEqual(expect.arrayContaining(known));
  expect(mutableState('src/mock-server').filter((name) => !known.includes(name))).toEqual([]);
});

/**
 * Lists state of the modules in `folder` that can change after loading, as `file name`: fields of classes that are not
 * `readonly` or hold a container, and variables of a module or of a function that an inner function changes.
 */
function mutableState(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  return files.sort().flatMap((file) => {
    const source = ts.createSourceFile(file, readFileSync(`${folder}/${file}`, 'utf8'), ts.ScriptTarget.Latest, true);
    return [...fields(source), ...variables(source)].map((name) => `${file} ${name}`);
  });
}

function fields(source: ts.SourceFile): string[] {
  return all(source, ts.isPropertyDeclaration)
    .filter((field) => !isReadonly(field) || isContainer(field.initializer))
    .map((field) => field.name.getText());
}

function isReadonly(field: ts.PropertyDeclaration): boolean {
  return field.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ReadonlyKeyword) ?? false;
}

/** Variables that outlive a call: those of a module, and those that an inner function uses. */
function variables(source: ts.SourceFile): string[] {
  const kept = all(source, ts.isVariableDeclaration).filter((variable) => {
    const isLet = (variable.parent.flags & ts.NodeFlags.Const) === 0;
    return (isLet || isContainer(variable.initializer)) && isKept(variable);
  });
  return kept.map(({ name }) => name.getText());
}

function isKept(variable: ts.VariableDeclaration): boolean {
  const home = functionAround(variable);
  if (home === undefined) return true;
  const name = variable.name.getText();
  const inside = all(home, ts.isIdentifier).filter((use) => use.text === name && use.parent !== variable);
  return inside.some((use) => functionAround(use) !== home && isChange(use));
}

/** Whether this use changes the variable or its content. */
function isChange(use: ts.Identifier): boolean {
  const { parent } = use;
  if (ts.isBinaryExpression(parent)) return parent.left === use && /=$/.test(parent.operatorToken.getText());
  if (ts.isPropertyAccessExpression(parent))
    return /^(?:set|add|push|delete|clear|shift|pop|splice)$/.test(parent.name.text);
  return ts.isPrefixUnaryExpression(parent) || ts.isPostfixUnaryExpression(parent);
}

function isContainer(value: ts.Expression | undefined): boolean {
  if (value === undefined) return false;
  if (ts.isNewExpression(value)) return /^(?:(?:Weak)?(?:Map|Set)|Heap)$/.test(value.expression.getText());
  return ts.isArrayLiteralExpression(value) && value.elements.length === 0;
}

function functionAround(node: ts.Node): ts.Node | undefined {
  let around = node.parent;
  while (around !== undefined && !ts.isFunctionLike(around)) around = around.parent;
  return around;
}

function all<Kind extends ts.Node>(root: ts.Node, isKind: (node: ts.Node) => node is Kind): Kind[] {
  const found: Kind[] = [];
  const visit = (node: ts.Node): void => {
    if (isKind(node)) found.push(node);
    ts.forEachChild(node, visit);
  };
  visit(root);
  return found;
}
