import type { ObjectContext } from '../../shared/objects/context.ts';
import { type Backup, openBackup } from '../../shared/objects/backup.ts';
import { versionOf } from '../../shared/objects/migrations.ts';
import { COPY_TABLES } from './copy-tables.ts';
import type { Moving } from '../moving/moving.ts';
import { GATE_TABLES } from './tables.ts';

/** Branches ignore openings with a lower number than their last one, which may be later than the backup. */
const SKIP_OPENINGS = 'UPDATE branch_facts SET openings = openings + 1000000';

/** Backs up and restores what a gate owns, unless it is moving. */
export const openGateBackup = (object: ObjectContext, moving: Moving): Backup => {
  const { sql } = object.ctx.storage;
  const backup = openBackup(object, {
    steps: versionOf(GATE_TABLES),
    copies: COPY_TABLES,
    own: ['place'],
    onRestored: () => sql.exec(SKIP_OPENINGS),
  });
  return async (call) => {
    const later = moving.next();
    if (later) return later.backup(call);
    if (call.kind === 'begin') moving.reopen();
    return moving.isSettled() ? backup(call) : { refused: 'moving' };
  };
};
