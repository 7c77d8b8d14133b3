import { expect, test } from 'vitest';
import { createMockServer } from '../../../src/mock-server/index.ts';

test('a new account gets an e-mail, and another one on request; createKey() sends none', () => {
  const mock = createMockServer({ clock: 'virtual' });
  mock.createKey();
  const ada = mock.accounts.create({ email: 'ada@example.test' });
  mock.accounts.create({ email: 'bob@example.test' });

  const again = mock.accounts.sendConfirmation(ada.id);

  expect(mock.outbox.list().map(({ id, to }) => [id, to])).toEqual([
    ['mail_1', 'ada@example.test'],
    ['mail_2', 'bob@example.test'],
    ['mail_3', 'ada@example.test'],
  ]);
  expect(mock.outbox.list({ to: 'ada@example.test' }).map(({ id }) => id)).toEqual(['mail_1', 'mail_3']);
  expect(again).toEqual({
    id: 'mail_3',
    accountId: ada.id,
    to: 'ada@example.test',
    subject: 'Confirm your e-mail address',
    sentAt: new Date('2026-01-15T00:00:00.000Z'),
  });
  expect(() => mock.accounts.sendConfirmation('account_9')).toThrow('"account_9"');
});

test('keeps the newest 1,000 e-mails', () => {
  const mock = createMockServer();
  const { id } = mock.accounts.create();

  for (let mail = 2; mail <= 1000; mail += 1) mock.accounts.sendConfirmation(id);
  expect(mock.outbox.list()[0]?.id).toBe('mail_1');
  mock.accounts.sendConfirmation(id);

  expect(mock.outbox.list()).toHaveLength(1000);
  expect(mock.outbox.list()[0]?.id).toBe('mail_2');
  mock.outbox.clear();
  expect(mock.outbox.list()).toEqual([]);
});

test('a snapshot contains the e-mails, also one of an earlier version with links, and a reset removes them', () => {
  const mock = createMockServer();
  mock.accounts.create({ email: 'ada@example.test' });
  const saved = mock.snapshot();
  mock.reset();
  expect(mock.outbox.list()).toEqual([]);

  const withLinks = saved.mails.map((mail) => ({ ...mail, token: '0'.repeat(32), isUsed: false }));
  mock.restore({ ...saved, mails: withLinks });

  expect(mock.snapshot().mails).toEqual(saved.mails);
});
