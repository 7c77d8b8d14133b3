/** Whether `FXRATES_LONG_TESTS=1` is set, as in the coverage job of CI. */
export const isLong = process.env['FXRATES_LONG_TESTS'] === '1';

/** `all` in a long run, otherwise the smaller `some`. */
export function inLongRuns<Value>(all: Value, some: Value): Value {
  return isLong ? all : some;
}
