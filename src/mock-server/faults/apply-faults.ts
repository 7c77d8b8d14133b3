import type { HandledRequest } from '../http/service-handler.ts';
import { applyFault, codeOfStatus, type FaultTools } from './apply-fault.ts';
import { describeFault } from './describe-fault.ts';
import type { FaultEffect, FaultRecord } from './fault.ts';

/** An answer after all the faults that struck it, and the journal entry that says so. */
export function applyFaults(
  handled: HandledRequest,
  struck: readonly FaultRecord[],
  tools: FaultTools,
): HandledRequest {
  if (struck.length === 0) return handled;
  let { response } = handled;
  let waitMs = 0;
  for (const { settings } of struck) {
    response = applyFault(response, settings, tools);
    waitMs += waitAfter(settings);
  }
  return { response, waitMs, entry: entryOf(handled, { response, waitMs }, struck) };
}

/** A latency in front of the service has passed by now. */
function waitAfter(settings: FaultRecord['settings']): number {
  if (settings.kind === 'hang') return Number.POSITIVE_INFINITY;
  return settings.kind === 'latency' && settings.strikes === 'after' ? settings.latencyMs : 0;
}

function entryOf(
  { entry }: HandledRequest,
  { response, waitMs }: Pick<HandledRequest, 'response' | 'waitMs'>,
  struck: readonly FaultRecord[],
): HandledRequest['entry'] {
  if (entry === undefined) return undefined;
  const hasArrived = response?.delivery?.sendsHead !== false && waitMs !== Number.POSITIVE_INFINITY;
  const status = hasArrived ? (response?.status ?? 0) : 0;
  const reasons = struck.map(({ settings }) => `fault ${settings.id}: ${describeFault(settings)}`);
  return {
    ...entry,
    status,
    code: codeOf(entry.code, { status, struck }),
    why: [entry.why, ...reasons].filter((reason) => reason !== '').join('; '),
    faults: struck.map(({ settings }) => settings.id),
  };
}

interface Arrived {
  readonly status: number;
  readonly struck: readonly FaultRecord[];
}

/** The `error.code` that the client can read. */
function codeOf(decided: string | undefined, { status, struck }: Arrived): string | undefined {
  if (status === 0) return undefined;
  const replaced = struck.map(({ settings }): FaultEffect => settings).findLast(({ kind }) => kind === 'status');
  if (replaced?.kind !== 'status') return decided;
  return replaced.body === undefined ? codeOfStatus(replaced) : undefined;
}
