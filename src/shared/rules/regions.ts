/** The regions where Durable Objects start. The others that Cloudflare takes as a hint are served from one of these. */
export const REGIONS = ['wnam', 'enam', 'weur', 'eeur', 'apac-ne', 'apac-se', 'oc'] as const;

export type Region = (typeof REGIONS)[number];

/** The length of a branch's lease unless REGIONS_LEASE_SECONDS sets another one. */
export const LEASE_MS = 30_000;
/** The calls within a minute that open a branch, unless REGIONS_OPEN_AFTER sets another number. */
export const OPEN_AFTER_CALLS = 20;

export const REGION_NAMES: Record<Region, string> = {
  wnam: 'Western North America',
  enam: 'Eastern North America',
  weur: 'Western Europe',
  eeur: 'Eastern Europe',
  'apac-ne': 'Northeast Asia',
  'apac-se': 'Southeast Asia',
  oc: 'Oceania',
};

/** What Cloudflare knows about a caller's location, as in `request.cf`. Coordinates are decimal numbers. */
export interface Location {
  /** The data center in which the Worker runs. */
  colo?: string | undefined;
  continent?: string | undefined;
  latitude?: string | undefined;
  longitude?: string | undefined;
}

/**
 * Returns the region with the shortest round trip, or null for an unknown location. The borders follow the latencies that
 * where.durableobjects.live measured from Cloudflare's data centers in January 2026. Only the border within East Asia is
 * by geography, because those measurements don't divide it.
 */
export const nearestRegion = ({ continent, latitude, longitude }: Location): Region | null => {
  const north = Number(latitude);
  const east = Number(longitude);
  switch (continent) {
    case 'NA':
      return east < -97 ? 'wnam' : 'enam';
    case 'SA':
      return 'enam';
    case 'EU':
      return east >= 10 ? 'eeur' : 'weur';
    case 'AF':
      return 'weur';
    case 'AS':
      // The Middle East and Central Asia.
      if (east < 60 || (east < 90 && north >= 37)) return 'eeur';
      return east > 100 && north >= 23 ? 'apac-ne' : 'apac-se';
    case 'OC':
      return east < -120 ? 'wnam' : 'oc';
    case 'AN':
      return 'oc';
    default:
      return null;
  }
};
