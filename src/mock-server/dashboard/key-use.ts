import { quotaUse } from '../service/quota-use.ts';
import { type KeyRecord, limitPerMinute, type ServiceContext } from '../service/service-state.ts';

/** How much of its two limits a key has used. */
export interface KeyUse {
  readonly minute: { readonly used: number; readonly limit: number };
  /** `limit` is `null` for any number; `resetsAt` in milliseconds since the Unix epoch. */
  readonly month: { readonly used: number; readonly limit: number | null; readonly resetsAt: number };
}

/** Looks at both limits; counts nothing. */
export function keyUse({ behaviour, now }: ServiceContext, key: KeyRecord): KeyUse {
  const limit = limitPerMinute(key.account);
  // Refused requests may count too; more than all of it is all of it.
  const used = Math.min(limit, Math.floor(key.window?.used(limit, now()) ?? 0));
  return { minute: { used, limit }, month: quotaUse(key, now(), behaviour) };
}
