import type * as z from 'zod/mini';
import english from 'zod/v4/locales/en.js';

/**
 * Parses with messages in English, whichever locale the program has given to zod. Only a failure is parsed with them:
 * a `safeParse` with options takes three times as long.
 */
export function parseSchema(schema: z.ZodMiniType, value: unknown) {
  const parsed = schema.safeParse(value);
  return parsed.success ? parsed : schema.safeParse(value, { error: english().localeError });
}
