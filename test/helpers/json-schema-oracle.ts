import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';

/** Validates values of a component with ajv, which reads the same document independently. */
export function jsonSchemaOracle(spec: string): (component: string) => (value: unknown) => boolean {
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  const dateTime = ajv.formats['date-time'] as { validate: (text: string) => boolean };
  ajv.addFormat('date-time', (text) => USUAL_DATE_TIME.test(text) && dateTime.validate(text));
  ajv.addSchema({ $id: 'spec', ...parse(spec) }, undefined, undefined, false);
  return (component) => ajv.compile({ $ref: `spec#/components/schemas/${component}` });
}

/**
 * ajv-formats also accepts texts that RFC 3339 forbids (a space for the T, an offset without minutes or colon). zod
 * rejects lower-case letters and leap seconds, which few programs write and `Date` cannot read. Neither is tested.
 */
const USUAL_DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:[0-5]\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
