/**
 * A request handler of msw, as far as the mock's own types say. They do not name msw's, so that they compile in a
 * project that has another version of it, or none.
 */
export interface MswHandler {
  readonly info: object;
  run(args: never): Promise<unknown>;
}
