import { type Operation, operations } from '../../src/generated/operations.ts';
import type { PlanName } from '../../src/generated/service.ts';
import { Behaviour } from '../../src/mock-server/behaviour/behaviour.ts';
import type { BehaviourOptions } from '../../src/mock-server/behaviour/behaviour-options.ts';
import { createIdentify } from '../../src/mock-server/http/identify-request.ts';
import { quotaResponder, type Responder } from '../../src/mock-server/http/responders.ts';
import { createRouter } from '../../src/mock-server/http/router.ts';
import { createServiceHandler } from '../../src/mock-server/http/service-handler.ts';
import { Journal } from '../../src/mock-server/journal/journal.ts';
import { createLatestResponder } from '../../src/mock-server/rates/latest-responder.ts';
import { createAccounts } from '../../src/mock-server/service/accounts.ts';
import { createKeys } from '../../src/mock-server/service/keys.ts';
import { emptyState } from '../../src/mock-server/service/service-state.ts';

export interface MockCoreOptions {
  readonly behaviour?: BehaviourOptions;
  readonly unsafe?: boolean;
  readonly now?: number;
  readonly operations?: Readonly<Record<string, Operation>>;
  readonly responders?: Readonly<Record<string, Responder>>;
}

/** The emulated service alone, synchronous, with a number as its clock. */
export class MockCore {
  now: number;
  readonly journal = new Journal(1000);
  readonly responders: Readonly<Record<'latest' | 'quota', Responder>>;
  readonly context;
  readonly accounts;
  readonly keys;
  readonly #handle;

  constructor(options: MockCoreOptions = {}) {
    const builtIn = { latest: createLatestResponder(), quota: quotaResponder };
    this.responders = { ...builtIn, ...options.responders };
    this.now = options.now ?? Date.UTC(2026, 0, 15);
    this.context = {
      state: emptyState(1),
      behaviour: new Behaviour(options.behaviour ?? {}, { unsafe: options.unsafe ?? false }),
      now: () => this.now,
    };
    this.accounts = createAccounts(this.context);
    this.keys = createKeys(this.context);
    const findRoute = createRouter(options.operations ?? operations);
    this.#handle = createServiceHandler({
      context: this.context,
      findRoute,
      responders: this.responders,
      identify: createIdentify(this.context, findRoute),
    });
  }

  /** A confirmed account and its key. */
  createKey(plan: PlanName = 'free') {
    const account = this.accounts.create({ plan });
    this.accounts.confirm(account.id);
    return this.keys.create({ accountId: account.id });
  }

  send(target: string, { key, method = 'GET', headers = {} }: Sending = {}) {
    const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const handled = this.#handle({ method, target, headers: { ...authorization, ...headers } });
    const response = handled.response!;
    this.journal.add(handled.entry!);
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
