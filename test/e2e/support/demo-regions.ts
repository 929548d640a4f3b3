import type { BrowserContext } from 'playwright-core';
import type * as z from 'zod';
import type { regionsBody } from '../../../src/regions/schemas.ts';

const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();

/** What an account with callers in several regions sees, because all local callers are in one. */
const REGIONS: z.infer<typeof regionsBody> = {
  enabled: true,
  home_region: 'enam',
  moving_to: null,
  branches: [
    { region: 'weur', opened_at: hoursAgo(76) },
    { region: 'apac-ne', opened_at: hoursAgo(3) },
  ],
  days: 30,
  regions: [
    {
      region: 'enam',
      calls: 182_406,
      p50_ms: 24,
      p95_ms: 41,
      answered_by: [{ region: 'enam', calls: 182_406, p50_ms: 24, p95_ms: 41 }],
    },
    {
      region: 'weur',
      calls: 96_118,
      p50_ms: 26,
      p95_ms: 104,
      answered_by: [
        { region: 'weur', calls: 90_342, p50_ms: 25, p95_ms: 43 },
        { region: 'enam', calls: 5_776, p50_ms: 104, p95_ms: 131 },
      ],
    },
    {
      region: 'apac-ne',
      calls: 31_870,
      p50_ms: 27,
      p95_ms: 176,
      answered_by: [
        { region: 'apac-ne', calls: 28_004, p50_ms: 25, p95_ms: 48 },
        { region: 'enam', calls: 3_866, p50_ms: 174, p95_ms: 212 },
      ],
    },
    {
      region: 'oc',
      calls: 12,
      p50_ms: null,
      p95_ms: null,
      answered_by: [{ region: 'enam', calls: 12, p50_ms: null, p95_ms: null }],
    },
  ],
};

/** Lets the Regions page of a browser context show callers in several regions. */
export const showRegions = (context: BrowserContext) =>
  context.addInitScript(`{
    const send = window.fetch;
    window.fetch = async (...request) =>
      new URL(request[0].url ?? request[0], location.href).pathname === '/api/regions'
        ? Response.json(${JSON.stringify(REGIONS)})
        : send(...request);
  }`);
