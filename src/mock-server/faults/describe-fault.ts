import type { FaultEffect } from './fault.ts';

/** What a fault does, in words for the journal. */
export function describeFault(effect: FaultEffect): string {
  switch (effect.kind) {
    case 'latency':
      return `${effect.latencyMs} ms late`;
    case 'hang':
      return 'never answered';
    case 'status':
      return `answered ${effect.status}`;
    case 'network-error':
      return 'the connection broke off';
    case 'reset':
      return effect.afterBytes === undefined ? 'the connection was reset' : `reset ${afterBytes(effect)}`;
    case 'truncate':
    case 'malformed-chunk':
      return `${effect.kind} ${afterBytes(effect)}`;
    case 'dribble':
      return `${effect.chunkBytes ?? 1} bytes every ${effect.intervalMs} ms`;
    case 'content-type':
      return `content-type ${effect.contentType ?? DEFAULT_CONTENT_TYPE}`;
    case 'retry-after':
      return effect.retryAfter === undefined ? 'without Retry-After' : `Retry-After ${effect.retryAfter}`;
    default:
      return effect.kind;
  }
}

export const DEFAULT_CONTENT_TYPE = 'text/html';

function afterBytes({ afterBytes: count = 0 }: { readonly afterBytes?: number | undefined }): string {
  return `after ${count} bytes of the body`;
}
