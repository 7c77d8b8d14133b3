import type { AnyOptions } from '../options.ts';
import { definedOf } from './checks.ts';
import type { CacheSettings } from './quota-settings.ts';

interface Parent {
  readonly options: AnyOptions;
  readonly cache: CacheSettings | undefined;
}

/** `options` over those of the parent. Answers stay in one cache, whatever their age may be. */
export function inheritedOptions(options: AnyOptions, parent: Parent): AnyOptions {
  const { fetch, dispatcher, proxy, ...others } = parent.options;
  const hasTransport = options.fetch !== undefined || options.dispatcher !== undefined || options.proxy === 'env';
  const inherited = hasTransport ? others : { fetch, dispatcher, proxy, ...others };
  return { ...inherited, ...definedOf(options), cache: inheritedCache(options.cache, parent.cache) };
}

function inheritedCache(option: AnyOptions['cache'], parent: CacheSettings | undefined): AnyOptions['cache'] {
  if (option === undefined || parent === undefined) return option ?? parent;
  if (option === 'snapshot') return { maxAgeMs: option, store: parent.store };
  return { ...option, store: option?.store ?? parent.store };
}
