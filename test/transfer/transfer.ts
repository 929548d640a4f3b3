import { exports } from 'cloudflare:workers';
import { importLines } from '../../src/transfer/import.ts';
import type { ImportOptions } from '../../src/transfer/schemas.ts';
import { type Customer, type Json, ORIGIN } from '../support/client.ts';
import { ctxOf } from '../support/databases.ts';

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

/** The turns of a transfer that nothing holds up. */
export const atOnce = () => Promise.resolve();

/** Imports beside another import, as one does whose place was taken while it was slow. */
export const importBeside = async (
  { accountId }: Customer,
  text: string,
  onConflict: ImportOptions['onConflict'] = 'fail',
) => {
  const pages = importLines({
    ctx: ctxOf(accountId),
    takeTurn: atOnce,
    format: 'ndjson',
    body: { chunks: [text], isCut: false },
    after: 0,
    options: { onConflict, isDryRun: false, allowsLabels: false, hasEvents: false },
    serviceHost: 'latchkey.example',
  });
  const answers = (await Array.fromAsync(pages)).flat() as Json[];
  return { answers: answers.slice(0, -1), totals: answers.at(-1)?.totals };
};
