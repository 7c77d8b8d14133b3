export { mockHandlers } from './mock-handlers.ts';
