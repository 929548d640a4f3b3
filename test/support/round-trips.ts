import { REGIONS } from '../../src/shared/rules/regions.ts';

// The round trips of the simulated network. Sources: where.durableobjects.live and Cloudflare's own measurements, in 2026.

/** The regions where objects start, and those that only have callers: South America, Africa and the Middle East. */
export const CALLER_REGIONS = [...REGIONS, 'sam', 'afr', 'me'] as const;

export type CallerRegion = (typeof CALLER_REGIONS)[number];

/** A data center in each region. */
export const COLOS: Record<CallerRegion, string> = {
  wnam: 'SJC',
  enam: 'IAD',
  weur: 'AMS',
  eeur: 'WAW',
  'apac-ne': 'NRT',
  'apac-se': 'SIN',
  oc: 'SYD',
  sam: 'GRU',
  afr: 'JNB',
  me: 'DOH',
};

export const IN_REGION_MS = 15;

/** How long the platform takes to confirm a commit. */
export const COMMIT_MS = 12;

/** Round trips in the order of `CALLER_REGIONS`, each row from the next region on. */
const ROUND_TRIPS_MS = [
  [62, 147, 151, 108, 171, 139, 171, 292, 220],
  [76, 92, 146, 211, 199, 114, 232, 160],
  [17, 210, 171, 265, 186, 148, 87],
  [223, 158, 249, 204, 162, 87],
  [68, 104, 257, 358, 161],
  [93, 322, 205, 85],
  [312, 412, 176],
];

export const roundTripMs = (a: CallerRegion, b: CallerRegion): number => {
  const [i, j] = [CALLER_REGIONS.indexOf(a), CALLER_REGIONS.indexOf(b)].toSorted((x, y) => x - y) as [
    number,
    number,
  ];
  return ROUND_TRIPS_MS[i]?.[j - i - 1] ?? IN_REGION_MS;
};
