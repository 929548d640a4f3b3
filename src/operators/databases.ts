import { auditFirst } from '../audit/audit.ts';
import { audited } from '../audit/audited.ts';
import type { Ctx } from '../db/ctx.ts';
import { AppError } from '../shared/app-error.ts';
import { gateOf } from '../shared/objects/address.ts';
import { isoTime } from '../shared/rules/dates.ts';
import { getAccount } from './accounts.ts';

// Moving an account to another D1 database. The account's gate does it, see src/databases/move.ts.

const gate = ({ env, accountId }: Ctx) => gateOf(env, accountId);

type Reply = Awaited<ReturnType<ReturnType<typeof gateOf>['moveDatabase']>>;

const seconds = (fromMs: number | null, untilMs: number) =>
  fromMs === null ? 0 : Math.round(Math.max(0, untilMs - fromMs) / 100) / 10;

const toMove = (reply: Reply) => {
  if (reply.refused !== null) throw new AppError('invalid_transition', { message: reply.refused });
  const { database, move, ended } = reply;
  const nowMs = Date.now();
  return {
    database,
    move: move && {
      from: move.from,
      to: move.to,
      step: move.phase,
      rows: move.rows,
      started_at: isoTime(move.startedMs),
      refusing_for_seconds: seconds(move.closedMs, move.openedMs ?? nowMs),
      problem: move.problem,
    },
    last_move: ended && {
      from: ended.from,
      to: ended.to,
      rows: ended.rows,
      started_at: isoTime(ended.startedMs),
      ended_at: isoTime(ended.endedMs),
      refused_for_seconds: seconds(ended.closedMs, ended.openedMs ?? ended.endedMs),
      problem: ended.problem,
    },
  };
};

const read = async (ctx: Ctx) => toMove(await gate(ctx).moveDatabase({ ask: 'state' }));

export const readMove = async (ctx: Ctx) => {
  await getAccount(ctx);
  return read(ctx);
};

/** Begins the move. A repeat answers how far it is, and the account's log has one entry. */
export const moveDatabase = async (ctx: Ctx, to: string) => {
  const { database: from } = await getAccount(ctx);
  const check = async () => toMove(await gate(ctx).moveDatabase({ ask: 'trial', to }));
  const found = await check();
  if (found.move || found.database === to) return found;
  return audited(ctx, ['account.move_database', null, { from, to }], {
    check: null,
    makeChange: async () => toMove(await gate(ctx).moveDatabase({ ask: 'start', to })),
    isBeyondLimits: true,
  });
};

/** Lets the account stay. The entry is in the first database, because the account's own log can't be written meanwhile. */
export const cancelMove = async (ctx: Ctx) => {
  const { move } = await readMove(ctx);
  if (move && move.step !== 'undoing')
    await auditFirst(ctx, 'account.move_database', null, { to: move.to, canceled: true });
  return toMove(await gate(ctx).moveDatabase({ ask: 'cancel' }));
};
