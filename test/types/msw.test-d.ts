import type { HttpHandler } from 'msw';
import { setupWorker } from 'msw/browser';
import { setupServer } from 'msw/node';
import { expectTypeOf, test } from 'vitest';
import { createMockServer } from '../../src/mock-server/index.ts';
import { mockHandlers } from '../../src/mock-server/msw/index.ts';

test('the handlers of fxrates/msw are those of msw, for its server and its worker', () => {
  const mock = createMockServer();

  expectTypeOf(mockHandlers(mock)).toEqualTypeOf<HttpHandler[]>();
  expectTypeOf(setupServer).toBeCallableWith(...mockHandlers(mock));
  expectTypeOf(setupWorker).toBeCallableWith(...mockHandlers(mock));
});
