import type { Cancellation } from '../cancellation.ts';
import type { ReadBody } from './body-reader.ts';

/** What goes onto the wire. Only transports and `authenticate` see a URL or headers with the key in them. */
export interface TransportRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly cancellation: Cancellation;
  /** Longest body that is read, in bytes. */
  readonly maxBytes: number;
}

/** A response, read to its end unless there was a problem with its body. */
export interface TransportResponse extends ReadBody {
  readonly status: number;
  readonly headers: ResponseHeaders;
}

/** Response headers; a `Headers` object is built only for whoever wants one, because building it costs more than the call's own work. */
export interface ResponseHeaders {
  get(name: string): string | undefined;
  toHeaders(): Headers;
}

/** Sends one request. Rejects when no whole response arrived. */
export type Transport = (request: TransportRequest) => Promise<TransportResponse>;
