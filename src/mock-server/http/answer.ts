import { STATUS_CODES } from 'node:http';

/** An answer before it is written down as HTTP. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** What becomes the JSON body; `undefined` for none. */
  readonly envelope: object | undefined;
  /** `error.code`; `undefined` for a success. */
  readonly code: string | undefined;
  /** The reason in words, for the journal. */
  readonly why: string;
}

/** The success envelope of SERVICE.md with this payload. */
export function success(data: unknown): Answer {
  return { status: 200, headers: {}, envelope: { success: true, data }, code: undefined, why: 'served' };
}

export interface Failure {
  readonly status: number;
  readonly code: string;
  /** Sent as `error.message`. Never holds anything the request said. */
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the message. */
  readonly why?: string;
}

/** The error envelope of SERVICE.md. */
export function failure({ status, code, message, headers = {}, why = message }: Failure): Answer {
  return { status, headers, envelope: { success: false, error: { code, message, status } }, code, why };
}

export function reasonPhrase(status: number): string {
  return STATUS_CODES[status] ?? '';
}
