import * as z from 'zod';

/** Which requests; from a query, where numbers are text, or from JSON. */
export const journalFilter = z.strictObject({
  keyId: z.string().optional(),
  method: z.string().optional(),
  path: z.string().optional().describe('The whole path; `*` stands for anything.'),
  operation: z.string().optional().describe('Id of the operation, such as `latest`.'),
  status: z.coerce.number().int().optional(),
  code: z.string().optional().describe('`error.code` of the answer.'),
  fault: z.string().optional().describe('Id of a fault that struck the request.'),
  after: z.coerce.number().int().min(0).optional().describe('Only entries with a larger number.'),
});
