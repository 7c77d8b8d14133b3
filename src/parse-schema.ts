import { en as english } from 'zod/locales';
import type * as z from 'zod/mini';

/**
 * Parses with English messages, also if the program has set another locale of zod. The value is parsed again only after a
 * failure, because `safeParse` with options takes three times as long.
 */
export function parseSchema(schema: z.ZodMiniType, value: unknown) {
  const parsed = schema.safeParse(value);
  return parsed.success ? parsed : schema.safeParse(value, { error: english().localeError });
}
