import { createExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import worker from '../../src/index.ts';
import { ORIGIN } from '../support/client.ts';
import { sellerWithLicense } from '../support/worlds.ts';

const recorded = () => {
  const points: AnalyticsEngineDataPoint[] = [];
  const TRAFFIC: AnalyticsEngineDataset = { writeDataPoint: (point = {}) => void points.push(point) };
  const call = (path: string, init?: RequestInit) =>
    worker.fetch(new Request(ORIGIN + path, init), { ...env, TRAFFIC }, createExecutionContext());
  return { points, call };
};

test('each request is written to Analytics Engine, where a service has it, and nothing of whose it is', async () => {
  const { ada, license } = await sellerWithLicense();
  const { points, call } = recorded();
  const verify = (key: string) =>
    call('/api/v1/licenses/verify', {
      method: 'POST',
      headers: { 'x-api-key': ada.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ license_key: key }),
    });
  expect((await verify(license.license_key)).status).toBe(200);
  expect((await call(`/api/v1/licenses/${license.id}`)).status).toBe(401);
  expect((await call('/health')).status).toBe(200);
  expect(points).toEqual([
    {
      indexes: ['/api/v1/licenses/verify'],
      blobs: ['POST', '/api/v1/licenses/verify', '200', ''],
      doubles: [expect.any(Number)],
    },
    {
      indexes: ['/api/v1/licenses/:id'],
      blobs: ['GET', '/api/v1/licenses/:id', '401', 'api_key_required'],
      doubles: [expect.any(Number)],
    },
    { indexes: ['/health'], blobs: ['GET', '/health', '200', ''], doubles: [expect.any(Number)] },
  ]);
});
