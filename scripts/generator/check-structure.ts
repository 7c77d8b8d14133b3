import {
  BaseResolver,
  createConfig,
  lintDocument,
  type NormalizedProblem,
  type Plugin,
  ResolveError,
  Source,
} from '@redocly/openapi-core';
import { isJsonObject, type JsonObject } from '../../src/json.ts';
import { nearestName } from '../../src/nearest-name.ts';
import type { Refusal } from './contract.ts';
import { pointerKeys, SpecNode } from './spec-node.ts';

/** Problems that every reader of OpenAPI has with a document, beside those `found`: unknown keys, wrong types, dead references. */
export async function structureProblems(document: JsonObject, found: readonly Refusal[]): Promise<readonly Refusal[]> {
  try {
    const source = new Source('openapi.yaml', '');
    const problems = await lintDocument({
      // With another version, the other problems are reported, too. `readContract` refuses wrong ones.
      document: { parsed: { ...document, openapi: '3.1.0' }, source },
      config: await CONFIGURATION,
      externalRefResolver: new OneDocument(),
    });
    const known = problems.filter(({ message }) => !message.includes(BOOLEAN_SCHEMA)).map(refusalOf);
    return known.filter((refusal) => !isNameInMapping(refusal, new SpecNode(document)));
  } catch (error) {
    // A reference to itself ends the linter. `readContract` reports one that is used.
    const problem = `the structure cannot be checked: ${(error as Error).message}`;
    return found.length === 0 ? [{ path: [], problem }] : [];
  }
}

/** `true` is a schema in every place since OpenAPI 3.1; `readSchema` refuses `false`. */
const BOOLEAN_SCHEMA = '`Schema` (object) but got `boolean`';

/** A discriminator can name a schema of the components, which the linter would look for in a file of this name. */
function isNameInMapping({ path }: Refusal, spec: SpecNode): boolean {
  const schemas = spec.at(['components', 'schemas']);
  return path.at(-2) === 'mapping' && schemas.has(String(spec.at(path).value));
}

const RULES = {
  struct: 'error',
  'no-unresolved-refs': 'error',
  'no-identical-paths': 'error',
  'no-enum-type-mismatch': 'error',
  'contract/extensions': 'error',
} as const;

/** The extensions that the generator reads. A name that is similar to one of them is reported as a typing mistake. */
const EXTENSIONS = [
  ...['x-api-key', 'x-consumes-quota', 'x-error-code', 'x-extensible-enum', 'x-free-form-query', 'x-not-shown'],
  ...['x-plans', 'x-works-when-quota-exhausted'],
];

const PLUGIN: Plugin = {
  id: 'contract',
  rules: {
    oas3: {
      extensions: () => ({
        any: (node, { report, location }) => {
          for (const [key, meant] of misspeltExtensions(node)) {
            report({ message: `unknown key '${key}'`, suggest: [meant], location: location.child([key]).key() });
          }
        },
      }),
    },
  },
  /** Keywords of OpenAPI 3.0, which are common in documents of 3.1. */
  typeExtension: {
    oas3: (types) => {
      const { Schema } = types;
      if (Schema === undefined) return types;
      const limit = (value: unknown) => ({ type: typeof value === 'boolean' ? 'boolean' : 'number' }) as const;
      const properties = {
        nullable: { type: 'boolean' as const },
        exclusiveMinimum: limit,
        exclusiveMaximum: limit,
      };
      return { ...types, Schema: { ...Schema, properties: { ...Schema.properties, ...properties } } };
    },
  },
};

const CONFIGURATION = createConfig({ plugins: [PLUGIN], rules: RULES });

function misspeltExtensions(node: unknown): [key: string, meant: string][] {
  const keys = isJsonObject(node) ? Object.keys(node).filter((key) => key.startsWith('x-')) : [];
  return keys.flatMap((key) => {
    const meant = nearestName(key, EXTENSIONS);
    return meant === undefined || meant === key ? [] : [[key, meant]];
  });
}

/** The contract is published as one file. */
class OneDocument extends BaseResolver {
  override loadExternalRef(ref: string): Promise<never> {
    throw new ResolveError(new Error(`${ref} is another document`));
  }
}

function refusalOf({ message, suggest, ruleId, location: [place] }: NormalizedProblem): Refusal {
  const [meant] = suggest;
  const text = message.replaceAll('`', "'").replace(/\.$/, '');
  const problem = text.charAt(0).toLowerCase() + text.slice(1);
  const path = place?.pointer === undefined || place.pointer === '#/' ? [] : pointerKeys(place.pointer);
  const isRef = ruleId === 'no-unresolved-refs' && path.at(-2) !== 'mapping';
  const key = isRef ? '$ref' : /^The field `(.+)` must be present/.exec(message)?.[1];
  return {
    path: key === undefined ? path : [...path, key],
    problem: meant === undefined ? problem : `${problem}; did you mean '${meant}'?`,
  };
}
