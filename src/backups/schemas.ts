import * as z from 'zod';
import { isoTime } from '../shared/rules/dates.ts';
import { idPattern, idTimeMs } from '../shared/text/ids.ts';
import type { Restored } from './restore.ts';
import type { CompleteBackup, Running, UnreadableBackup } from './state.ts';

export const backupParam = z.object({ id: z.string().regex(idPattern('bak')) });

/** Rows and lines of all kinds. */
const rowsOf = (counts: Running['counts']) =>
  Object.entries(counts).reduce((sum, [name, count]) => (name === 'accounts' ? sum : sum + count), 0);

const toUnreadable = ({ id }: UnreadableBackup) => ({
  id,
  status: 'unreadable',
  started_at: isoTime(idTimeMs(id)),
  finished_at: null,
  databases: [],
  accounts: null,
  rows: null,
  chunks: null,
  bytes: null,
  missing_accounts: [],
});

const toReadable = (backup: Running | CompleteBackup, status: 'running' | 'done' | 'failed') => ({
  id: backup.id,
  status,
  started_at: isoTime(backup.startedAtMs),
  finished_at: 'finishedAtMs' in backup ? isoTime(backup.finishedAtMs) : null,
  databases: backup.databases,
  accounts: backup.counts['accounts'] ?? 0,
  rows: rowsOf(backup.counts),
  chunks: backup.chunks.length,
  bytes: backup.bytes,
  missing_accounts: backup.missing,
});

export const toBackup = (backup: Running | CompleteBackup | UnreadableBackup, failed?: 'failed') => {
  if ('isUnreadable' in backup) return toUnreadable(backup);
  return toReadable(backup, failed ?? ('finishedAtMs' in backup ? 'done' : 'running'));
};

export const toRestored = (restored: Restored) => ({
  id: restored.id,
  done: restored.restoredChunks === restored.chunks,
  chunks: restored.chunks,
  restored_chunks: restored.restoredChunks,
  rows: restored.rows,
  skipped_rows: restored.skipped,
  accounts: restored.accounts,
});
