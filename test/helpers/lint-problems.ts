import { join } from 'node:path';
import { lintFromString, loadConfig } from '@redocly/openapi-core';

/** The problems of an OpenAPI document by the rules of redocly.yaml. */
export async function lintProblems(source: string): Promise<readonly string[]> {
  const config = await loadConfig({ configPath: join(import.meta.dirname, '../../redocly.yaml') });
  const problems = await lintFromString({ source, absoluteRef: '/openapi.yaml', config });
  return problems.map(({ message, location: [place] }) => `${place?.pointer ?? ''}: ${message}`);
}
