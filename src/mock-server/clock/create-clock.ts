import { invalidOption } from '../mock-server-error.ts';
import { type ClockOptions, type DrivenClock, parseInstant } from './clock.ts';
import { RealClock } from './real-clock.ts';
import { SocketUse, VirtualClock } from './virtual-clock.ts';

/** Where a virtual clock starts unless told: fixed, so that every run gives the same answers. */
const VIRTUAL_START = '2026-01-15T00:00:00.000Z';

/** Makes the clock that the option `clock` asks for. */
export function createClock(option: 'real' | 'virtual' | ClockOptions, sockets = new SocketUse()): DrivenClock {
  const options: ClockOptions = typeof option === 'string' ? { mode: option } : checked(option);
  const { mode, now, autoAdvance = true, frozen = false } = options;
  if (mode === 'real') return new RealClock(now === undefined ? undefined : parseInstant('clock.now', now), { frozen });
  if (mode === 'virtual') {
    return new VirtualClock(parseInstant('clock.now', now ?? VIRTUAL_START), { autoAdvance, frozen, sockets });
  }
  throw invalidOption(typeof option === 'string' ? 'clock' : 'clock.mode', mode, EXPECTED);
}

const OPTION_NAMES = Object.keys({
  mode: true,
  now: true,
  autoAdvance: true,
  frozen: true,
} satisfies Record<keyof ClockOptions, true>);
const EXPECTED = `'real', 'virtual' or { ${OPTION_NAMES.join(', ')} }`;

function checked(option: unknown): ClockOptions {
  if (typeof option !== 'object' || option === null) throw invalidOption('clock', option, EXPECTED);
  for (const [name, value] of Object.entries(option)) {
    if (!OPTION_NAMES.includes(name)) throw invalidOption(`clock.${name}`, value, EXPECTED);
  }
  const flags: Partial<ClockOptions> = option;
  for (const name of ['autoAdvance', 'frozen'] as const) {
    if (flags[name] === undefined || typeof flags[name] === 'boolean') continue;
    throw invalidOption(`clock.${name}`, flags[name], 'true or false');
  }
  return option as ClockOptions;
}
