import { operations } from '../../src/generated/operations.ts';
import type { PlanName } from '../../src/generated/service.ts';
import { Behaviour, type BehaviourOptions } from '../../src/mock-server/behaviour/behaviour.ts';
import type { DrivenClock } from '../../src/mock-server/clock/driven-clock.ts';
import { createRouter } from '../../src/mock-server/http/find-route.ts';
import type { MockResponse } from '../../src/mock-server/http/message.ts';
import { quotaResponse } from '../../src/mock-server/http/responses.ts';
import { createHandler } from '../../src/mock-server/mock/handle-request.ts';
import { createMockState, createSpaceState } from '../../src/mock-server/mock/mock-state.ts';
import { checkOptions } from '../../src/mock-server/mock/options.ts';
import type { Responder } from '../../src/mock-server/mock/respond.ts';
import { latestResponse } from '../../src/mock-server/mock/respond-latest.ts';
import { createAccounts } from '../../src/mock-server/service/accounts.ts';
import { createKeys } from '../../src/mock-server/service/keys.ts';
import type { Operation } from '../../src/operation.ts';

export interface MockCoreOptions {
  readonly behaviour?: BehaviourOptions;
  readonly now?: number;
  readonly operations?: Readonly<Record<string, Operation>>;
  readonly responders?: Readonly<Record<string, Responder>>;
}

/** The emulated service alone, synchronous, with a number as its clock. */
export class MockCore {
  now: number;
  readonly responders: Readonly<Record<'latest' | 'quota', Responder>>;
  readonly context;
  readonly journal;
  readonly accounts;
  readonly keys;
  readonly #handle;

  constructor(options: MockCoreOptions = {}) {
    const builtIn = { latest: latestResponse, quota: quotaResponse };
    this.responders = { ...builtIn, ...options.responders };
    this.now = options.now ?? Date.UTC(2026, 0, 15);
    const defaults = checkOptions({});
    const core = createMockState(defaults);
    const own = {
      name: undefined,
      behaviour: new Behaviour(options.behaviour ?? {}),
      clock: { now: () => this.now, noteRequest: () => undefined } as DrivenClock, // nothing waits
      seed: 1,
      initial: core.initial,
    };
    const findRoute = createRouter(options.operations ?? operations);
    this.context = { ...createSpaceState(core, own), parent: undefined, responders: this.responders, findRoute };
    this.journal = this.context.journal;
    this.accounts = createAccounts(this.context);
    this.keys = createKeys(this.context);
    this.#handle = createHandler(this.context);
  }

  /** A confirmed account and its key. */
  createKey(plan: PlanName = 'free') {
    const account = this.accounts.create({ plan });
    this.accounts.confirm(account.id);
    return this.keys.create({ accountId: account.id });
  }

  send(target: string, { key, method = 'GET', headers = {} }: Sending = {}) {
    const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const message = { method, target, headers: { ...authorization, ...headers } };
    const response = this.#handle(message, { adapter: 'fetch' }) as MockResponse; // there are no faults
    const text = String(response.body);
    const body = text === '' ? undefined : JSON.parse(text);
    return {
      status: response.status,
      headers: response.headers,
      text,
      body,
      code: body?.error?.code,
      data: body?.data,
    };
  }
}

export interface Sending {
  readonly key?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}
