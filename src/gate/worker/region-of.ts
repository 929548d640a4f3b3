import { type Location, nearestRegion, type Region, REGIONS } from '../../shared/rules/regions.ts';
import { COLOS_BY_REGION } from './colos.ts';

const regionByColo = new Map(
  REGIONS.flatMap((region) =>
    COLOS_BY_REGION[region]
      .trim()
      .split(/\s+/)
      .map((colo) => [colo, region] as const),
  ),
);

/**
 * Returns the region that answers a caller: that of the Worker's data center or, for one that is not in the table, that of
 * the caller's coordinates and continent. The round trip from data center to object is what a branch saves.
 */
export const regionOf = (location: Location): Region | null =>
  regionByColo.get(location.colo ?? '') ?? nearestRegion(location);
