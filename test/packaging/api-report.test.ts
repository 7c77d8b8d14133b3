import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import ts from 'typescript';
import { beforeAll, expect, test } from 'vitest';
import { hasBundle } from '../helpers/cli-bundle.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { TSC_7 } from '../helpers/typescript.ts';

const ROOT = join(import.meta.dirname, '../..');
const ENTRIES = {
  fxrates: 'client/index',
  'fxrates/file-store': 'client/file-store/index',
  'fxrates/mock-server': 'mock-server/index',
  'fxrates/msw': 'mock-server/msw/index',
  'fxrates/probe': 'probe/index',
  'fxrates/redis': 'client/redis/index',
};

// The build has written the same declarations, so a test after it does not.
const folder = hasBundle ? join(ROOT, '.declarations') : temporaryFolder();
let program: ts.Program;
let checker: ts.TypeChecker;
beforeAll(() => {
  const project = join(ROOT, 'scripts/tsconfig.declarations.json');
  if (!hasBundle) execFileSync(process.execPath, [TSC_7, '-p', project, '--outDir', folder]);
  const paths = Object.values(ENTRIES).map((path) => join(folder, `${path}.d.ts`));
  program = ts.createProgram(paths, { types: [], lib: ['lib.es2023.d.ts'], module: ts.ModuleKind.NodeNext });
  checker = program.getTypeChecker();
});

function exportsOf(entry: keyof typeof ENTRIES): ts.Symbol[] {
  const file = program.getSourceFile(join(folder, `${ENTRIES[entry]}.d.ts`));
  const symbol = file && checker.getSymbolAtLocation(file);
  return symbol ? checker.getExportsOfModule(symbol) : [];
}

/** After a deliberate change: `npx vitest run test/packaging/api-report.test.ts -u`. */
test('the public types are those of the report', async () => {
  await expect(reportOf(Object.keys(ENTRIES) as (keyof typeof ENTRIES)[])).toMatchFileSnapshot('api-report.md');
});

test('an editor shows a doc comment for each field of the mock server', () => {
  const aliases = exportsOf('fxrates/mock-server');
  const undocumented = aliases.flatMap((alias) => {
    const type = checker.getDeclaredTypeOfSymbol(checker.getAliasedSymbol(alias));
    if (OPAQUE.includes(alias.name)) return [];
    const fields = (type.isUnion() ? type.types : [type]).flatMap((one) => checker.getPropertiesOfType(one));
    const isOwn = ({ name, declarations = [] }: ts.Symbol) =>
      /^[a-z]/.test(name) && declarations.every((declaration) => isIn(folder, declaration));
    const isSilent = (field: ts.Symbol) => field.getDocumentationComment(checker).length === 0;
    return fields.filter((field) => isOwn(field) && isSilent(field)).map(({ name }) => `${alias.name}.${name}`);
  });

  expect(aliases.map(({ name }) => name)).toEqual(expect.arrayContaining(['MockServerOptions', 'RuleOptions']));
  expect(undocumented.filter((name) => !name.endsWith('.kind'))).toEqual([]);
});

/** Described as a whole. */
const OPAQUE = ['Delay', 'Snapshot', 'ValuePattern'];

/** The exports of each entry by name, then every declaration that they use, without comments. */
function reportOf(entries: readonly (keyof typeof ENTRIES)[]): string {
  const used = new Map<string, ts.Declaration>();
  const lists = entries.map((entry) => {
    const exported = exportsOf(entry).filter((one) => !isGenerated(targetOf(one)));
    for (const one of exported) collect(one);
    const names = exported.map(({ name }) => name).sort();
    return `## ${entry}\n\n${names.join(', ')}`;
  });
  const declarations = [...used].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, declaration]) => textOf(declaration));
  return `# Public types\n\n${lists.join('\n\n')}\n\n## Declarations\n\n\`\`\`ts\n${declarations.join('\n')}\n\`\`\`\n`;

  function collect(symbol: ts.Symbol): void {
    const target = targetOf(symbol);
    for (const declaration of target.declarations ?? []) {
      const { fileName } = declaration.getSourceFile();
      const key = `${target.name} ${fileName} ${declaration.pos}`;
      if (!isIn(folder, declaration) || isGenerated(target) || !isStatement(declaration) || used.has(key)) continue;
      used.set(key, declaration);
      visit(declaration);
    }
  }

  function targetOf(symbol: ts.Symbol): ts.Symbol {
    return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  }

  /** The declarations in `generated/` follow from openapi.yaml, whose changes are reviewed there. */
  function isGenerated({ declarations = [] }: ts.Symbol): boolean {
    return declarations.some((declaration) => isIn(join(folder, 'generated'), declaration));
  }

  function visit(node: ts.Node): void {
    if (isInternal(node)) return;
    const symbol = ts.isIdentifier(node) ? checker.getSymbolAtLocation(node) : undefined;
    if (symbol !== undefined) collect(symbol);
    ts.forEachChild(node, visit);
  }
}

function isIn(folder: string, declaration: ts.Declaration): boolean {
  return declaration.getSourceFile().fileName.startsWith(folder);
}

/** Whether it is a declaration of a module; members and parameters are printed with theirs. */
function isStatement(declaration: ts.Declaration): boolean {
  return ts.isStatement(declaration) || ts.isVariableDeclaration(declaration);
}

/** Constructors take internal parts, except those whose options have an exported type. */
function isInternal(node: ts.Node): boolean {
  const flags = ts.canHaveModifiers(node) ? ts.getCombinedModifierFlags(node as ts.Declaration) : 0;
  return ts.isConstructorDeclaration(node) || (flags & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected)) !== 0;
}

const printer = ts.createPrinter({ removeComments: true });

function textOf(declaration: ts.Declaration): string {
  const node = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
  return printer.printNode(ts.EmitHint.Unspecified, node, declaration.getSourceFile());
}
