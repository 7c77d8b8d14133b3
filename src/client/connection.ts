import { type OpenSettings, requireBaseUrl } from './config/settings.ts';
import { operationEndpoint } from './endpoints.ts';
import { ConfigError } from './errors/errors.ts';
import type { ClientEvents } from './events.ts';
import { ApiKey } from './keys/api-key.ts';
import { type ApiKeyOption, createKeySource, type KeySource } from './keys/key-source.ts';
import type { Lifetime } from './lifetime.ts';
import type { Caller, CallResponse } from './middleware/coalesce.ts';
import type { FxRatesOptions } from './options.ts';
import { createPipeline } from './pipeline.ts';
import { KeyStates } from './state/key-states.ts';
import { ignoredOptions, sharedOptions } from './state/shared-options.ts';
import type { Timers } from './timers.ts';
import { userAgent } from './user-agent.ts';

/** The parts of a client that need its base URL and its key. */
export interface Connection {
  readonly keys: KeySource;
  readonly states: KeyStates;
  readonly send: (caller: Caller) => Promise<CallResponse>;
}

interface ClientParts {
  readonly options: FxRatesOptions;
  readonly settings: OpenSettings;
  readonly events: ClientEvents;
  readonly timers: Timers;
  readonly lifetime: Lifetime;
  /** Those of the client that this one was made from. */
  readonly keys: KeySource | undefined;
}

/** Whether base URL and key are there. @throws ConfigError when the key is wrong, whether or not the base URL is there. */
export function canConnect({ options, settings }: ClientParts): boolean {
  const apiKey = givenKey(options);
  if (typeof apiKey === 'string') ApiKey.from(apiKey);
  return apiKey !== undefined && settings.baseUrl !== undefined;
}

/** @throws ConfigError when the base URL or the key is missing or wrong */
export function connect({ options, settings: open, events, timers, lifetime, keys: shared }: ClientParts): Connection {
  const settings = { ...open, baseUrl: open.baseUrl ?? requireBaseUrl(options) };
  const apiKey = givenKey(options);
  if (apiKey === undefined) throw new ConfigError('apiKey: none given; pass apiKey or set FXRATES_API_KEY');
  const states = new KeyStates(settings, lifetime);
  const keys =
    shared ??
    createKeySource(apiKey, (key) => {
      if (!key.hasDocumentedForm) events.warnOnce(unusualKey(key));
      const warning = ignoredOptions(sharedOptions(options), states.of(key));
      if (warning !== undefined) events.warnOnce(warning);
    });
  const quota = operationEndpoint('quota', undefined);
  const send = createPipeline({ settings, events, timers, lifetime, keys, states, quota, userAgent: userAgent() });
  return { keys, states, send };
}

/** An empty text counts as none: environments of build steps have such variables. */
function givenKey({ apiKey = process.env['FXRATES_API_KEY'] }: FxRatesOptions): ApiKeyOption | undefined {
  return apiKey === '' ? undefined : apiKey;
}

function unusualKey({ masked }: ApiKey): string {
  return `apiKey: ${masked} does not look like a key of the service (…_live_ and 48 hexadecimal digits); sent all the same`;
}
