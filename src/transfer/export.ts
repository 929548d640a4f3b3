import { auditRead } from '../audit/reads.ts';
import type { Ctx } from '../db/ctx.ts';
import { costOfExport, type TakeTurn } from './alone.ts';
import { type ExportPosition, writeCursor } from './export-cursor.ts';
import { PAGE_BYTES } from './export-pages.ts';
import { SECTION_NAMES, SECTIONS } from './export-sections.ts';

/** D1 allows 1,000 queries a request. A page makes at most three. */
const MAX_PAGES = 300;

const START: ExportPosition = { section: SECTION_NAMES[0] ?? 'account', after: null, counts: {} };

/** Returns where the export continues, or null if that was the last section. */
const following = ({ section, counts }: ExportPosition): ExportPosition | null => {
  const next = SECTION_NAMES[SECTION_NAMES.indexOf(section) + 1];
  return next ? { section: next, after: null, counts } : null;
};

/**
 * Yields everything of the account in pages of lines, without secrets. The last line has the numbers of lines. Lines of the
 * type `cursor` say how to continue an export that was cut off, and end an answer that has as much as a request may read.
 */
export async function* exportLines(
  ctx: Ctx,
  takeTurn: TakeTurn,
  position: ExportPosition = START,
  maxPages = MAX_PAGES,
): AsyncGenerator<object[]> {
  await auditRead(ctx, 'account.export', null, { isBeyondLimits: true });
  const counts = { ...position.counts };
  let at: ExportPosition = { ...position, counts };
  let sinceCursor = 0;
  for (let page = 1; ; page++) {
    const { lines, next } = await SECTIONS[at.section](ctx, at.after);
    for (const { type } of lines) counts[type] = (counts[type] ?? 0) + 1;
    const { length } = JSON.stringify(lines);
    await takeTurn(costOfExport({ lines: lines.length, length }));
    if (lines.length > 0) yield lines;
    const then = next ? { ...at, after: next } : following(at);
    if (!then) break;
    at = then;
    sinceCursor += length;
    if (sinceCursor < PAGE_BYTES && page < maxPages) continue;
    yield [{ type: 'cursor', cursor: writeCursor(at) }];
    if (page >= maxPages) return;
    sinceCursor = 0;
  }
  yield [{ type: 'end', counts }];
}
