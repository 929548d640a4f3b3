// Checks the OpenAPI document with the recommended rules of Redocly.
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { app } from '../src/app.ts';
import { openApiDocument } from './openapi.ts';

const problems = await lintFromString({
  source: JSON.stringify(openApiDocument(app, '1.0.0')),
  absoluteRef: 'openapi.json',
  config: await createConfig({ extends: ['recommended'] }),
});

const found = problems.map(
  ({ severity, ruleId, message, location: [place] }) =>
    `${severity}: ${ruleId}: ${place?.pointer}: ${message}`,
);
if (found.length > 0) console.error([...new Set(found)].join('\n'));
if (problems.some(({ severity }) => severity === 'error')) process.exitCode = 1;
