import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import type { ApiClient } from '../../api/client.ts';
import type { components } from '../../api/schema.ts';
import { command } from '../command.ts';
import { answer } from '../connection.ts';
import { CliError } from '../failure.ts';
import { allPages } from '../pages.ts';

type Product = components['schemas']['Product'];
type Wanted = { code: string } & components['schemas']['PutProduct'];

const list = command({
  name: 'products list',
  args: [],
  summary: 'List products',
  options: {},
  run: async ({ out, api }) => {
    const client = await api();
    const pages = await allPages(out, Infinity, (query) =>
      answer(client.GET('/api/v1/products', { params: { query } })),
    );
    out.table(pages, pages.data, {
      code: ({ code }) => code,
      name: ({ name }) => name,
      seats: ({ terms }) => terms.max_activations ?? 'no limit',
      terms: ({ terms }) => JSON.stringify(terms),
    });
    return 0;
  },
});

/** The last two are in what `products list --json` prints. */
const FIELDS = new Set(['code', 'name', 'terms', 'created_at', 'updated_at']);

const readProducts = async (file: string): Promise<Wanted[]> => {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new CliError(`${file} can’t be read: ${(cause as Error).message}`, { cause });
  });
  const products = parseList(file, text);
  const codes = new Set<string>();
  for (const product of products) {
    const code = (product as { code?: unknown } | null)?.code;
    if (typeof code !== 'string') throw new CliError(`${file} has a product without a code.`);
    const unknown = Object.keys(product as object).find((name) => !FIELDS.has(name));
    if (unknown !== undefined)
      throw new CliError(`${file}: the product ${code} has an unknown field, ${unknown}.`);
    if (codes.has(code)) throw new CliError(`${file} has two products with the code ${code}.`);
    codes.add(code);
  }
  return products as Wanted[];
};

const parseList = (file: string, text: string): unknown[] => {
  try {
    const parsed: unknown = JSON.parse(text);
    // `products list --json` can be applied again.
    const products = Array.isArray(parsed) ? parsed : (parsed as { data?: unknown } | null)?.data;
    if (Array.isArray(products)) return products;
  } catch (error) {
    throw new CliError(`${file} isn’t valid JSON: ${(error as Error).message}`, { cause: error });
  }
  throw new CliError(`${file} must be a JSON list of products.`);
};

/** A term that is null is the same as an absent term. */
const setTerms = (terms: object | null | undefined) =>
  Object.fromEntries(Object.entries(terms ?? {}).filter(([, value]) => value !== null));

const isSame = (current: Product, { name, terms }: Wanted): boolean =>
  current.name === (name ?? null) && isDeepStrictEqual({ ...current.terms }, setTerms(terms));

/** The error names the product: the file may have many. */
const put = async (client: ApiClient, { code, name, terms }: Wanted): Promise<void> => {
  const body = { name: name ?? null, terms: terms ?? null };
  try {
    await answer(client.PUT('/api/v1/products/{code}', { params: { path: { code } }, body }));
  } catch (cause) {
    if (!(cause instanceof CliError)) throw cause;
    const { code: reason, requestId, details, status, message } = cause;
    const advice = 'The products after it weren’t sent. Apply the file again: what is done stays as it is.';
    const said = { code: reason, requestId, details, status, advice, cause };
    throw new CliError(`The product ${code} wasn’t applied: ${message}`, said);
  }
};

const apply = command({
  name: 'products apply',
  args: ['FILE'],
  summary: 'Create or update the products in a JSON file',
  details: [
    'FILE is a JSON list of products: [{"code": "orrery", "name": "Orrery", "terms": {"max_activations": 2}}].',
    'A product is replaced, so terms that are not in the file are removed. Products that are not in the file stay.',
  ],
  options: {},
  run: async ({ out, api }, [file = '']) => {
    const wanted = await readProducts(file);
    const client = await api();
    const { data } = await allPages(out, Infinity, (query) =>
      answer(client.GET('/api/v1/products', { params: { query } })),
    );
    const current = new Map(data.map((product) => [product.code, product]));
    const results: { code: string; result: 'created' | 'updated' | 'unchanged' }[] = [];
    const say = () =>
      out.table({ data: results }, results, { code: ({ code }) => code, result: ({ result }) => result });
    for (const product of wanted) {
      const { code } = product;
      const known = current.get(code);
      out.progress(`${results.length} of ${wanted.length}: ${code}`);
      const isKept = known !== undefined && isSame(known, product);
      if (!isKept)
        await put(client, product).catch((error: unknown) => {
          say();
          throw error;
        });
      const changed = known ? 'updated' : 'created';
      results.push({ code, result: isKept ? 'unchanged' : changed });
    }
    say();
    return 0;
  },
});

export const productCommands = [list, apply];
