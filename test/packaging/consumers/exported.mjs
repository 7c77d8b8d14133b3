/** Compiled only, as TypeScript (`.mts`). The compiler must be able to write the types of the exports into declarations. */
import { FxRates, ResponseError } from 'fxrates';
import { fileStore } from 'fxrates/file-store';
import { createMockServer } from 'fxrates/mock-server';
import { mockHandlers } from 'fxrates/msw';
import { setupServer } from 'msw/node';

export const fx = new FxRates();
export const call = fx.latest({ base: 'EUR' });
export const withMeta = call.withMeta();
export const other = fx.withOptions({ numbers: 'string' });
export const batch = fx.batch([{ base: 'EUR' }]);
export const poll = fx.poll({ base: 'EUR' });
export const { latest, quota, get, batch: startBatch, poll: startPoll, withOptions } = fx;
export const bound = fx.latest.bind(fx);
export const methods = { rates: bound, quota: fx.quota, startPoll };
export const limits = fx.limits();
export const estimate = fx.quotaEstimate();
export const store = fileStore();
export const issues = new ResponseError('').issues;

export const mock = createMockServer();
export const created = mock.createKey();
export const entries = mock.journal.list();
export const rule = mock.rules.add({ respond: { status: 404 } });
export const failure = mock.rules.add({ fail: { kind: 'hang' } });
export const serving = mock.serve();
export const handlers = mockHandlers(mock);
export const intercepting = setupServer(...handlers);
