import { findAccount } from './accounts.ts';
import type { AccountRecord, MailRecord, ServiceContext } from './service-state.ts';

/** A confirmation e-mail of the emulated dashboard. The mock sends no real e-mail. */
export interface Mail {
  /** Id of the e-mail, for example `mail_1`. */
  readonly id: string;
  /** Id of the account. */
  readonly accountId: string;
  /** Address of the recipient. */
  readonly to: string;
  /** Subject line. */
  readonly subject: string;
  /** Path of the confirmation link, `/dashboard/confirm?token=…`. */
  readonly confirmPath: string;
  /** Time of sending, by the mock's clock. */
  readonly sentAt: Date;
  /** Time at which the link expires. */
  readonly expiresAt: Date;
}

/** The e-mails that the emulated dashboard has sent. */
export interface Outbox {
  /** Returns the e-mails, oldest first; with `to`, only those to one address. */
  list(options?: { readonly to?: string | undefined }): readonly Mail[];
  /** Deletes all e-mails. Their links stop working. */
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

/** How long a confirmation link is valid. The service does not document it; a day is common. */
const LINK_LIFE_MS = 24 * 60 * 60_000;

/** Sends the e-mail with the link that confirms the address of the account. */
export function sendConfirmation({ state, now }: ServiceContext, { id, email }: AccountRecord): void {
  const token = Array.from({ length: 4 }, () => state.random.uint32().toString(16).padStart(8, '0')).join('');
  state.lastMail += 1;
  state.mails.push({ id: `mail_${state.lastMail}`, accountId: id, to: email, token, sentAt: now(), isUsed: false });
  if (state.mails.length > MOST_MAILS) state.mails.shift();
}

/** More than a test needs. Limits the memory of a mock that runs for weeks. */
const MOST_MAILS = 1000;

/** Confirms the address of a link, once and before the link expires. */
export function followLink(context: ServiceContext, token: string): AccountRecord | 'unknown' | 'used' | 'expired' {
  const { state, now } = context;
  const mail = state.mails.find((sent) => sent.token === token);
  if (mail === undefined || !state.accounts.has(mail.accountId)) return 'unknown';
  if (mail.isUsed) return 'used';
  if (now() >= mail.sentAt + LINK_LIFE_MS) return 'expired';
  mail.isUsed = true;
  const account = findAccount(state, mail.accountId);
  account.isConfirmed = true;
  return account;
}

function view({ id, accountId, to, token, sentAt }: MailRecord): Mail {
  return {
    id,
    accountId,
    to,
    subject: 'Confirm your e-mail address',
    confirmPath: `/dashboard/confirm?token=${token}`,
    sentAt: new Date(sentAt),
    expiresAt: new Date(sentAt + LINK_LIFE_MS),
  };
}
