import type { LimitCore } from './limit-core.ts';
import type { LimiterSettings } from './limiter-settings.ts';
import { LocalCore } from './local-core.ts';
import type { LimitStore } from './shared/limit-store.ts';
import { SharedCore, type SharedCoreOptions } from './shared/shared-core.ts';

/** Where processes share a limit, and under what name. */
export interface Sharing {
  readonly store: LimitStore;
  readonly name: string;
}

/** The limit as this process alone uses it, or as one of several that share it. */
export function createCore(
  settings: LimiterSettings,
  sharing: Sharing | undefined,
  options: Omit<SharedCoreOptions, 'settings' | keyof Sharing>,
): LimitCore {
  return sharing === undefined ? new LocalCore(settings) : new SharedCore({ settings, ...sharing, ...options });
}
