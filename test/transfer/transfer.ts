import { exports } from 'cloudflare:workers';
import { type Customer, type Json, ORIGIN } from '../support/client.ts';

const NDJSON = { 'content-type': 'application/x-ndjson' };
export const CSV = { 'content-type': 'text/csv' };

export const toLines = (values: object[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('');

/** Sends a request and returns the lines of the answer. */
const lines = async (
  customer: Customer,
  method: string,
  path: string,
  init: Pick<RequestInit, 'body'> & { headers?: Record<string, string> } = {},
): Promise<{ status: number; lines: Json[] }> => {
  const headers = { authorization: `Bearer ${customer.token}`, ...init.headers };
  const request = new Request(ORIGIN + path, { method, ...init, headers });
  const response = await exports.default.fetch(request);
  const text = new TextDecoder().decode(await response.arrayBuffer());
  return {
    status: response.status,
    lines: text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)])),
  };
};

export const exportAll = async (customer: Customer): Promise<Json[]> =>
  (await lines(customer, 'GET', '/api/export')).lines;

export const exportAfter = (customer: Customer, cursor: string) =>
  lines(customer, 'GET', `/api/export?cursor=${cursor}`);

export const ofType = (exported: Json[], type: string): Json[] =>
  exported.filter((line) => line.type === type);

/** Imports a body and returns the answers with the totals. */
export const importAs = async (
  customer: Customer,
  body: BodyInit,
  query = '',
  headers: Record<string, string> = NDJSON,
) => {
  const answer = await lines(customer, 'POST', `/api/v1/licenses/import${query}`, { headers, body });
  const { totals, next_cursor } = answer.lines.at(-1) ?? {};
  const answers = totals ? answer.lines.slice(0, -1) : answer.lines;
  return { status: answer.status, answers, totals, next_cursor };
};
