export type { LimitExchange, LimitOffer, LimitStore } from '../limits/shared/limit-store.ts';
export { type FileStoreOptions, fileStore } from './file-store.ts';
