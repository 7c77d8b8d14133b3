import { expect, test } from 'vitest';
import { createOutbox, followLink, sendConfirmation } from '../../../src/mock-server/service/outbox.ts';
import { MockCore } from '../../helpers/mock-core.ts';

const DAY_MS = 86_400_000;

function setUp() {
  const core = new MockCore();
  const send = (email: string) => {
    const { id } = core.accounts.create({ email });
    sendConfirmation(core.context, core.context.state.accounts.get(id)!);
    return id;
  };
  const outbox = createOutbox(core.context);
  const follow = (index: number) =>
    followLink(core.context, outbox.list()[index]!.confirmPath.replace('/dashboard/confirm?token=', ''));
  return { core, outbox, send, follow };
}

test('lists the e-mails to one address, or all, oldest first', () => {
  const { core, outbox, send } = setUp();
  for (const email of ['ada@example.test', 'bob@example.test', 'ada@example.test']) send(email);

  expect(outbox.list().map(({ id, to }) => [id, to])).toEqual([
    ['mail_1', 'ada@example.test'],
    ['mail_2', 'bob@example.test'],
    ['mail_3', 'ada@example.test'],
  ]);
  expect(outbox.list({ to: 'ada@example.test' }).map(({ id }) => id)).toEqual(['mail_1', 'mail_3']);
  expect(outbox.list()[1]).toMatchObject({
    accountId: 'account_2',
    confirmPath: expect.stringMatching(/^\/dashboard\/confirm\?token=[0-9a-f]{32}$/),
    sentAt: new Date(core.now),
    expiresAt: new Date(core.now + DAY_MS),
  });
});

test('keeps the newest 1,000 e-mails', () => {
  const { outbox, send } = setUp();

  for (let mail = 1; mail <= 1000; mail += 1) send('ada@example.test');
  expect(outbox.list()[0]?.id).toBe('mail_1');
  send('ada@example.test');

  expect(outbox.list()).toHaveLength(1000);
  expect(outbox.list()[0]?.id).toBe('mail_2');
});

test('after clear() there is no e-mail, and its link is unknown', () => {
  const { core, outbox, send } = setUp();
  send('ada@example.test');
  const token = outbox.list()[0]!.confirmPath.slice(-32);

  outbox.clear();

  expect(outbox.list()).toEqual([]);
  expect(followLink(core.context, token)).toBe('unknown');
});

test('a link confirms the account of its e-mail, once', () => {
  const { core, send, follow } = setUp();
  const [ada, bob] = [send('ada@example.test'), send('bob@example.test')];

  expect(follow(1)).toMatchObject({ id: bob, isConfirmed: true });
  expect(follow(1)).toBe('used');

  expect([ada, bob].map((id) => core.accounts.get(id).confirmed)).toEqual([false, true]);
});

test('a link works until a day has passed', () => {
  const { core, send, follow } = setUp();
  send('ada@example.test');
  send('ada@example.test');

  core.now += DAY_MS - 1;
  expect(follow(0)).toMatchObject({ isConfirmed: true });
  core.now += 1;
  expect(follow(1)).toBe('expired');
});

test('the link of a removed account is unknown', () => {
  const { core, send, follow } = setUp();
  core.context.state.accounts.delete(send('ada@example.test'));

  expect(follow(0)).toBe('unknown');
});
