import { expect, test } from 'vitest';
import { nearestRegion, type Region } from '../../src/shared/rules/regions.ts';

const PLACES: [place: string, continent: string, latitude: string, longitude: string, Region][] = [
  ['Vancouver', 'NA', '49.2', '-123.1', 'wnam'],
  ['Denver', 'NA', '39.7', '-105.0', 'wnam'],
  ['Houston', 'NA', '29.8', '-95.4', 'enam'],
  ['Toronto', 'NA', '43.7', '-79.4', 'enam'],
  ['Honolulu', 'OC', '21.3', '-157.9', 'wnam'],
  ['São Paulo', 'SA', '-23.5', '-46.6', 'enam'],
  ['Reykjavík', 'EU', '64.1', '-21.9', 'weur'],
  ['Paris', 'EU', '48.9', '2.4', 'weur'],
  ['Warsaw', 'EU', '52.2', '21.0', 'eeur'],
  ['Vladivostok', 'EU', '43.1', '131.9', 'eeur'],
  ['Johannesburg', 'AF', '-26.2', '28.0', 'weur'],
  ['Dubai', 'AS', '25.2', '55.3', 'eeur'],
  ['Almaty', 'AS', '43.2', '76.9', 'eeur'],
  ['Karachi', 'AS', '24.9', '67.0', 'apac-se'],
  ['Delhi', 'AS', '28.6', '77.2', 'apac-se'],
  ['Singapore', 'AS', '1.3', '103.8', 'apac-se'],
  ['Taipei', 'AS', '25.0', '121.5', 'apac-ne'],
  ['Tokyo', 'AS', '35.7', '139.7', 'apac-ne'],
  ['Sydney', 'OC', '-33.9', '151.2', 'oc'],
];

test.for(PLACES)('%s is served from the nearest region', ([, continent, latitude, longitude, region]) => {
  expect(nearestRegion({ continent, latitude, longitude })).toBe(region);
});

test('without coordinates, the continent decides', () => {
  const continents = ['NA', 'SA', 'EU', 'AF', 'AS', 'OC', 'AN'];
  const regions = ['enam', 'enam', 'weur', 'weur', 'apac-se', 'oc', 'oc'];
  expect(continents.map((continent) => nearestRegion({ continent }))).toEqual(regions);
});

test('an unknown location has no region', () => {
  expect(nearestRegion({})).toBe(null);
});
