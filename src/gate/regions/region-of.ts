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

/** A caller's location as in `request.cf`. The data center is the one in which the Worker runs. */
export interface CallerLocation extends Location {
  colo?: string | undefined;
}

/**
 * Returns the region that answers a caller: that of the Worker's data center or, for one that is not in the table, that of
 * the caller's coordinates and continent. The round trip from data center to object is what a branch saves.
 */
export const regionOf = (location: CallerLocation): Region | null =>
  regionByColo.get(location.colo ?? '') ?? nearestRegion(location);
