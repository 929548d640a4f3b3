// The JSON schemas of the API document, from those of zod.
import * as z from 'zod';

export type Json = Record<string, unknown>;

/** What zod adds to any integer, date and time. A reader would take it for a rule of the service, and a tool make examples of it. */
const tidy = ({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void => {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.format === 'date' || jsonSchema.format === 'date-time') delete jsonSchema.pattern;
};

export const jsonSchema = (schema: z.ZodType, io: 'input' | 'output') => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, override: tidy });
  return rest as Json & { properties?: Record<string, Json>; required?: string[] };
};

const registered = (io: 'input' | 'output') =>
  z.toJSONSchema(z.globalRegistry, { io, override: tidy, uri: (id) => `#/components/schemas/${id}` }).schemas;

/** Returns every named schema, as input if it is one of these, else as output. */
export const namedSchemas = (inputs: (z.ZodType | undefined)[]) => {
  const [asInput, asOutput] = [registered('input'), registered('output')];
  const inputIds = new Set(inputs.map((schema) => schema && z.globalRegistry.get(schema)?.id));
  return Object.fromEntries(
    Object.keys(asOutput)
      .toSorted()
      .map((id) => {
        const {
          $schema: _s,
          $id: _i,
          id: _d,
          ...schema
        } = (inputIds.has(id) ? asInput : asOutput)[id] as Json;
        return [id, schema];
      }),
  );
};
