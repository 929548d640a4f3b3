import { expect, test } from 'vitest';
import { COLOS_BY_REGION, regionOf } from '../../../src/gate/worker/nearest.ts';
import { REGIONS } from '../../../src/shared/rules/regions.ts';

test('a caller is answered in the region of the data center that has received the call', () => {
  // A caller in Lisbon whose network reaches Cloudflare in Newark.
  const location = { continent: 'EU', latitude: '38.7', longitude: '-9.1' };
  expect(regionOf({ ...location, colo: 'EWR' })).toBe('enam');
  expect(regionOf({ ...location, colo: 'LIS' })).toBe('weur');
});

test.for([
  ['SJC', 'wnam'],
  ['IAD', 'enam'],
  ['GRU', 'enam'],
  ['LHR', 'weur'],
  ['JNB', 'weur'],
  ['WAW', 'eeur'],
  ['NRT', 'apac-ne'],
  ['SIN', 'apac-se'],
  ['SYD', 'oc'],
] as const)('%s is in %s', ([colo, region]) => {
  expect(regionOf({ colo })).toBe(region);
});

test('an unknown data center leaves it to the coordinates, and these to the continent', () => {
  const tokyo = { continent: 'AS', latitude: '35.7', longitude: '139.7' };
  expect(regionOf({ ...tokyo, colo: 'XXX' })).toBe('apac-ne');
  expect(regionOf(tokyo)).toBe('apac-ne');
  expect(regionOf({ continent: 'AS' })).toBe('apac-se');
  expect(regionOf({})).toBe(null);
});

test('no data center is in two regions', () => {
  const colos = REGIONS.flatMap((region) => COLOS_BY_REGION[region].trim().split(/\s+/));
  expect(colos.length).toBeGreaterThan(250);
  expect(colos.filter((colo) => !/^[A-Z]{3}$/.test(colo))).toEqual([]);
  expect(new Set(colos).size).toBe(colos.length);
});
