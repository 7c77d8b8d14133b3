import type { QuotaData } from '../../client/index.ts';
import { operations } from '../../generated/operations.ts';
import { CliError } from '../errors/cli-error.ts';
import type { Invocation } from '../invocation.ts';
import { sendRequest } from '../request/send-request.ts';
import type { KeyInUse } from '../settings/api-key.ts';

/** What the service says about a key: its quota, or a failure. */
export interface KeyCheck {
  readonly quota?: QuotaData;
  readonly failure?: CliError;
}

/** Asks with one quota call, which is free. */
export async function verifyKey(key: KeyInUse, invocation: Invocation): Promise<KeyCheck> {
  const { quota } = operations;
  try {
    const { data } = await sendRequest({ operation: quota, path: quota.path, query: {} }, invocation, { key });
    return { quota: data as QuotaData }; // parsed with the schema by the client
  } catch (error) {
    if (error instanceof CliError) return { failure: error };
    throw error;
  }
}
