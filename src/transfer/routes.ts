import { type Context, Hono } from 'hono';
import { endpoint } from '../auth/endpoint.ts';
import type { AppEnv } from '../http/context.ts';
import { NDJSON, streamLines } from '../http/ndjson.ts';
import { AppError, invalidField } from '../shared/app-error.ts';
import type { ImportFormat } from '../shared/rules/records.ts';
import { MAX_IMPORT_BYTES } from '../shared/rules/transfer-limits.ts';
import { runAlone } from './alone.ts';
import { type Body, readBody } from './body.ts';
import { exportQuery } from './export-cursor.ts';
import { exportLines } from './export.ts';
import { importLines } from './import.ts';
import { readHeader } from './lines.ts';
import { exportBody, importBody, importFile, importQuery, unknownColumns } from './schemas.ts';

const FORMATS: [pattern: RegExp, format: ImportFormat][] = [
  [/^text\/csv\s*(?:;|$)/i, 'csv'],
  [/^application\/(?:x-ndjson|ndjson|jsonl)\s*(?:;|$)/i, 'ndjson'],
];

const formatOf = (c: Context<AppEnv>): ImportFormat => {
  const type = c.req.header('content-type') ?? '';
  const [, format] = FORMATS.find(([pattern]) => pattern.test(type)) ?? [];
  if (format) return format;
  throw new AppError('unsupported_media_type', { message: `The Body Must Be ${NDJSON} or text/csv` });
};

/** A CSV file with an unknown column is rejected as a whole, because each of its lines would fail. */
const checkHeader = (body: Body) => {
  const header = readHeader(body);
  if ('problem' in header) throw invalidField('header', header.problem);
  const details = unknownColumns(header);
  if (details.length > 0) throw new AppError('invalid_request', { details: details.slice(0, 20) });
};

const readFile = async (c: Context<AppEnv>, format: ImportFormat): Promise<Body> => {
  const body = await readBody(c.req.raw);
  if (format === 'csv') checkHeader(body);
  return body;
};

const stream = async (c: Context<AppEnv>, event: string, pages: AsyncGenerator<object[]>) => {
  const body = await streamLines(pages, { event, accountId: c.var.ctx.accountId });
  return c.body(body, 200, { 'Content-Type': NDJSON });
};

export const exportRoutes = new Hono<AppEnv>().get(
  '/export',
  endpoint({
    id: 'exportAccount',
    tag: 'Account',
    summary: 'Export everything',
    description:
      'Streams the account’s data without secrets, a line of JSON for each thing. A file without the last line, whose type is `end`, was cut off. Larger files have lines of the type `cursor` in between, and the answer ends with one if there is more than a request reads: continue with `?cursor=`. What exists during the whole export is in it once, and a change that is made meanwhile may or may not be in it.',
    access: 'account',
    wantsProof: true,
    query: exportQuery,
    answers: [{ status: 200, description: 'Lines of JSON.', schema: exportBody, contentType: NDJSON }],
  }),
  async (c) =>
    stream(
      c,
      'export_failed',
      runAlone(c.var.ctx, (takeTurn) => exportLines(c.var.ctx, takeTurn, c.req.valid('query').cursor)),
    ),
);

export const importRoutes = new Hono<AppEnv>()
  .post(
    '/import',
    endpoint({
      id: 'importLicenses',
      tag: 'Licenses',
      summary: 'Import licenses',
      description:
        'Creates or updates licenses from lines of JSON, or from a CSV file with the same fields as columns and `metadata.<name>` for an entry of the metadata. A line has the fields of a create, and `status`, `created_at`, and past dates. The lines of an export are accepted as well: products, licenses, and machines are imported, webhooks are added without being enabled, and other lines are skipped. The answer has a line for each input line, and a last line with the totals. A line that fails changes nothing. As soon as the account has products, `product` must be the code of one, or of a product in an earlier line. A line of an export may also name a label that its license had. A request imports at most 20,000 lines: if the body has more, the last line before the totals fails with `too_many_lines`, and `next_cursor` says how to go on. The same file can be sent again, for example after an answer without totals, and ends in the same state. Imports don’t count as API usage.',
      access: 'account',
      query: importQuery,
      file: { schema: importFile, contentTypes: [NDJSON, 'text/csv'] },
      answers: [
        {
          status: 200,
          description: 'Lines of JSON, one for each line.',
          schema: importBody,
          contentType: NDJSON,
        },
      ],
    }),
    async (c) => {
      const { on_conflict, dry_run, allow_unknown_product, events, cursor } = c.req.valid('query');
      const format = formatOf(c);
      if (Number(c.req.header('content-length')) > MAX_IMPORT_BYTES) throw new AppError('body_too_large');
      const { ctx } = c.var;
      const pages = runAlone(ctx, async function* (takeTurn) {
        const body = await readFile(c, format);
        yield* importLines({
          ctx,
          takeTurn,
          format,
          body,
          after: Number(cursor ?? 0),
          options: {
            onConflict: on_conflict,
            isDryRun: dry_run === 'true',
            allowsLabels: allow_unknown_product === 'true',
            hasEvents: events === 'true',
          },
          serviceHost: new URL(c.req.url).hostname,
        });
      });
      return stream(c, 'import_failed', pages);
    },
  )
  .all('/import', (c) => c.notFound());
