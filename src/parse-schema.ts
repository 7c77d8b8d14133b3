import type * as z from 'zod/mini';
import english from 'zod/v4/locales/en.js';

/**
 * Parses with English messages, also if the program has set another locale of zod. The value is parsed again only after a
 * failure, because `safeParse` with options takes three times as long.
 */
export function parseSchema(schema: z.ZodMiniType, value: unknown) {
  const parsed = schema.safeParse(value);
  return parsed.success ? parsed : schema.safeParse(value, { error: english().localeError });
}
