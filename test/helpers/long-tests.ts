/** `all` if `FXRATES_LONG_TESTS=1` is set, as in the coverage job of CI; otherwise the smaller `some`. */
export function inLongRuns<Value>(all: Value, some: Value): Value {
  return process.env['FXRATES_LONG_TESTS'] === '1' ? all : some;
}
