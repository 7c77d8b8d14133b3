import type { QuotaData } from '../../client/index.ts';
import { operations } from '../../generated/operations.ts';
import { CliError } from '../errors/cli-error.ts';
import type { Invocation } from '../invocation.ts';
import { askService } from '../service/ask-service.ts';
import type { KeyInUse } from '../settings/api-key.ts';

/** What the service says about a key: its quota, or a failure. */
export interface Verdict {
  readonly quota?: QuotaData;
  readonly failure?: CliError;
}

/** Asks with one quota call, which is free. */
export async function verdictOn(key: KeyInUse, invocation: Invocation): Promise<Verdict> {
  const { quota } = operations;
  try {
    const { data } = await askService({ operation: quota, path: quota.path, query: {} }, invocation, { key });
    return { quota: data as QuotaData }; // parsed with the schema by the client
  } catch (error) {
    if (error instanceof CliError) return { failure: error };
    throw error;
  }
}
