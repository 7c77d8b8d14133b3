import { enumSwitch, numberSwitch, textSwitch } from './switch.ts';

/** What is not shown about accounts, keys and plans. */
export const accountSwitches = {
  freeMaxActiveKeys: numberSwitch<number | null>([1, 2, 3, null], {
    min: 1,
    notShown: 'free-key-cap',
    why: 'Caps are shown for Developer and Unlimited only; one is the least that works.',
  }),
  keyLimitReached: enumSwitch(['409 key_limit_reached', '403 key_limit_reached', '422 key_limit_reached'], {
    notShown: 'key-cap-response',
    why: 'What the dashboard answers above the cap is not shown.',
  }),
  unconfirmedEmail: enumSwitch(['403 email_not_confirmed', '409 email_not_confirmed', '422 email_not_confirmed'], {
    notShown: 'key-cap-response',
    why: 'What the dashboard answers before the e-mail address is confirmed is not shown.',
  }),
  planChange: enumSwitch(['keep', 'reset'], {
    notShown: 'plan-change',
    why: 'Whether a change of plan keeps the used part of the month is not shown.',
  }),
  overCapKeys: enumSwitch(['keep', 'revoke-newest', 'block'], {
    notShown: 'plan-change',
    why: 'What happens to keys above the cap of a smaller plan is not shown; blocked ones work again with more room.',
  }),
  keyPrefix: textSwitch(['fx_live_', 'rates_live_'], {
    pattern: /^[A-Za-z0-9]+_live_$/,
    notShown: 'key-prefix',
    why: 'Only its ending, _live_, is shown.',
  }),
} as const;
