import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import { openApiDocument } from '../../scripts/openapi.ts';
import { app } from '../../src/app.ts';

// Runs in Node because the validator generates code, which the Workers runtime does not allow.

test('the OpenAPI document is valid OpenAPI 3.1', async () => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate({ ...openApiDocument(app, '1.2.3') });
  expect(errors).toBeUndefined();
  expect(valid).toBe(true);
  expect(validator.version).toBe('3.1');
});

test('the validator rejects an OpenAPI document without info', async () => {
  const { info: _, ...document } = openApiDocument(app, '1.2.3');
  const { valid } = await new Validator().validate(document);
  expect(valid).toBe(false);
});
