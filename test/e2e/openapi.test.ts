import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import { openApiDocument } from '../../scripts/openapi.ts';
import { app } from '../../src/app.ts';

// In Node, since the validator compiles code, which the Workers runtime forbids.

test('the OpenAPI document is valid OpenAPI 3.1', async () => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate({ ...openApiDocument(app, '1.2.3') });
  expect(errors).toBeUndefined();
  expect(valid).toBe(true);
  expect(validator.version).toBe('3.1');
});

test('the validator does see a fault in the OpenAPI document', async () => {
  const { info: _, ...document } = openApiDocument(app, '1.2.3');
  const { valid } = await new Validator().validate(document);
  expect(valid).toBe(false);
});
