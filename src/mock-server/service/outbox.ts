import type { AccountRecord, MailRecord, ServiceContext } from './service-state.ts';

/** A confirmation e-mail. The mock sends no real e-mail. */
export interface Mail {
  /** Id of the e-mail, for example `mail_1`. */
  readonly id: string;
  /** Id of the account whose address `mock.accounts.confirm()` confirms. */
  readonly accountId: string;
  /** Address of the recipient. */
  readonly to: string;
  /** Subject line. */
  readonly subject: string;
  /** Time of sending, by the mock's clock. */
  readonly sentAt: Date;
}

/** The confirmation e-mails of new accounts. */
export interface Outbox {
  /** Returns the e-mails, oldest first; with `to`, only those to one address. */
  list(options?: { readonly to?: string | undefined }): readonly Mail[];
  /** Deletes all e-mails. */
  clear(): void;
}

export function createOutbox({ state }: ServiceContext): Outbox {
  return {
    list: ({ to } = {}) => state.mails.filter((mail) => to === undefined || mail.to === to).map(view),
    clear() {
      state.mails = [];
    },
  };
}

/** Adds the e-mail that asks the owner of an account to confirm its address. */
export function sendConfirmation({ state, now }: ServiceContext, { id, email }: AccountRecord): Mail {
  state.lastMail += 1;
  const mail = { id: `mail_${state.lastMail}`, accountId: id, to: email, sentAt: now() };
  state.mails.push(mail);
  if (state.mails.length > MOST_MAILS) state.mails.shift();
  return view(mail);
}

/** More than a test needs. Limits the memory of a mock that runs for weeks. */
const MOST_MAILS = 1000;

function view({ sentAt, ...mail }: MailRecord): Mail {
  return { ...mail, subject: 'Confirm your e-mail address', sentAt: new Date(sentAt) };
}
