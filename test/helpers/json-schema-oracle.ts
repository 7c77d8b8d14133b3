import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';

/** What JSON Schema says of a component's values, by another implementation (ajv) that reads the same spec. */
export function jsonSchemaOracle(spec: string): (component: string) => (value: unknown) => boolean {
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  const dateTime = ajv.formats['date-time'] as { validate: (text: string) => boolean };
  ajv.addFormat('date-time', (text) => USUAL_DATE_TIME.test(text) && dateTime.validate(text));
  ajv.addSchema({ $id: 'spec', ...parse(spec) }, undefined, undefined, false);
  return (component) => ajv.compile({ $ref: `spec#/components/schemas/${component}` });
}

/**
 * ajv-formats also takes what RFC 3339 does not (a space for the T, an offset without minutes or colon), and zod does
 * not take lower-case letters and leap seconds, which few programs write and `Date` cannot read. Both are left out.
 */
const USUAL_DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:[0-5]\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
