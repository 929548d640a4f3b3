import type { Fields } from '../import-lines.ts';
import { MAX_COLUMNS } from '../transfer-limits.ts';

// Finds the licenses in what an API has answered: a list, a page with a list, or a document of JSON:API.

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Where pages have their list, the usual names first. */
const LISTS = ['data', 'items', 'results', 'licenses', 'license_keys', 'licenseKeys', 'sales', 'records'];

/** Returns the list of a page, or null if the value isn't a page. */
const listOf = (value: unknown): unknown[] | null => {
  if (Array.isArray(value)) return value;
  // A line of an export is no page, even if a field of it is a list.
  if (!isFields(value) || typeof value['type'] === 'string') return null;
  for (const name of LISTS) {
    const list = value[name];
    if (Array.isArray(list)) return list;
    if (isFields(list) && name === 'data') return listOf(list) ?? [list];
  }
  return null;
};

export const isPage = (value: unknown): boolean => listOf(value) !== null;

const isResource = (value: unknown): value is Fields & { attributes: Fields } =>
  isFields(value) && isFields(value['attributes']);

const nameOf = ({ type, id }: Fields) => `${String(type)} ${String(id)}`;

/** Returns the resources that a document of JSON:API includes, by their types and ids. */
const includedIn = (page: unknown): Map<string, Fields> => {
  const list: unknown[] = isFields(page) && Array.isArray(page['included']) ? page['included'] : [];
  return new Map(list.filter(isResource).map((item) => [nameOf(item), item.attributes]));
};

/** Returns the attributes of a resource, with those of the resources that it is related to. */
const fromResource = (resource: Fields & { attributes: Fields }, included: Map<string, Fields>): Fields => {
  const related: [string, Fields][] = [];
  const relationships = isFields(resource['relationships']) ? resource['relationships'] : {};
  for (const [name, relationship] of Object.entries(relationships)) {
    const data = isFields(relationship) ? relationship['data'] : null;
    if (isFields(data)) related.push([name, { ...included.get(nameOf(data)), id: data['id'] }]);
  }
  return {
    ...Object.fromEntries(related),
    ...resource.attributes,
    id: resource['id'],
    resource: resource['type'],
  };
};

/** Returns the items of a page, or the value itself. */
export const itemsOf = (value: unknown): unknown[] => {
  const included = includedIn(value);
  const list = listOf(value) ?? [value];
  return list.map((item) => (isResource(item) ? fromResource(item, included) : item));
};

const MAX_DEPTH = 3;

const isScalar = (value: unknown): value is string | number | boolean =>
  ['string', 'number', 'boolean'].includes(typeof value);

/** A list of names and values, as Cryptlex has its metadata. */
const isPairs = (value: unknown): value is { key: string; value: unknown }[] =>
  Array.isArray(value) && value.length > 0 && value.every((item) => isFields(item) && isScalar(item['key']));

/** Returns the values of an object as texts, by their paths, such as `customer.email`. */
export const flatten = (fields: Fields): Record<string, string> => {
  const flat: [string, string][] = [];
  const add = (path: string, value: unknown, depth: number) => {
    if (flat.length === MAX_COLUMNS) return;
    if (isScalar(value)) flat.push([path, String(value).trim()]);
    else if (isPairs(value)) for (const pair of value) add(`${path}.${pair.key}`, pair.value, depth + 1);
    else if (isFields(value) && depth < MAX_DEPTH)
      for (const [name, inner] of Object.entries(value)) add(`${path}.${name}`, inner, depth + 1);
  };
  for (const [name, value] of Object.entries(fields)) add(name, value, 0);
  return Object.fromEntries(flat);
};
