import { command } from '../command.ts';
import { CliError } from '../failure.ts';
import { openOperator } from '../operator.ts';
import type { Cell } from '../table.ts';

interface Backup {
  id: string;
  status: 'running' | 'done' | 'failed' | 'unreadable';
  started_at: string;
  finished_at: string | null;
  /** Null, like the other counts, if the backup is unreadable. */
  accounts: number | null;
  rows: number | null;
  bytes: number | null;
  missing_accounts: string[];
}

interface Listed {
  data: Backup[];
  /** The backup that is being restored. */
  restoring: string | null;
}

interface Restored {
  id: string;
  done: boolean;
  chunks: number;
  restored_chunks: number;
  rows: number;
  skipped_rows: number;
  accounts: number;
}

const fieldsOf = (backup: Backup): Record<string, Cell> => ({
  id: backup.id,
  status: backup.status,
  started: backup.started_at,
  finished: backup.finished_at,
  accounts: backup.accounts,
  rows: backup.rows,
  bytes: backup.bytes,
});

const backUpService = command({
  name: 'operator backup-service',
  args: [],
  summary: 'Back up all databases and objects to the bucket BACKUPS, and read the backup back',
  details: ['Can be interrupted and started again. The service also makes a backup each night.'],
  options: {},
  run: async (context) => {
    const operator = await openOperator(context);
    let backup = await operator.post<Backup>('/backups');
    while (backup.status === 'running') {
      context.out.progress(`${backup.rows} rows, ${backup.accounts} accounts…`);
      backup = await operator.post<Backup>(`/backups/${backup.id}/continue`);
    }
    if (backup.status === 'failed')
      throw new CliError('The backup couldn’t be read back.', { advice: 'Run the command again.' });
    context.out.fields(backup, fieldsOf(backup));
    if (backup.missing_accounts.length === 0) return 0;
    context.out.note(
      `The objects of these accounts couldn’t be read: ${backup.missing_accounts.join(', ')}.`,
    );
    return 2;
  },
});

const backups = command({
  name: 'operator backups',
  args: [],
  summary: 'List the backups of the service',
  options: {},
  run: async (context) => {
    const found = await (await openOperator(context)).get<Listed>('/backups');
    context.out.table(found, found.data, {
      id: ({ id }) => id,
      status: ({ status }) => status,
      started: ({ started_at }) => started_at,
      finished: ({ finished_at }) => finished_at,
      accounts: ({ accounts }) => accounts,
      rows: ({ rows }) => rows,
      bytes: ({ bytes }) => bytes,
    });
    return 0;
  },
});

/** Returns the backup that a restore goes on with, or else the newest one that something can be rebuilt from. */
const choose = ({ data, restoring }: Listed): string => {
  if (restoring) return restoring;
  const newest = data.find(
    ({ status, accounts, missing_accounts: missing }) =>
      status === 'unreadable' || (status === 'done' && (accounts ?? 0) + missing.length > 0),
  );
  if (!newest) throw new CliError('The bucket has no complete backup that has accounts.');
  if (newest.status === 'unreadable')
    throw new CliError(`The newest backup can’t be read: ${newest.id}.`, {
      advice: 'Add the key that it is sealed with to SEALING_KEYS, or name an older backup.',
    });
  return newest.id;
};

const restoreService = command({
  name: 'operator restore-service',
  args: ['[BACKUP_ID]'],
  summary: 'Rebuild a service that has no accounts from a backup, by default the newest',
  details: [
    'The service needs the secrets of the lost one, and its bucket. Can be interrupted and started again.',
    'By default, it takes the backup that is being restored, or else the newest one that has accounts.',
  ],
  options: {},
  run: async (context, [given]) => {
    const operator = await openOperator(context);
    const id = given ?? choose(await operator.get<Listed>('/backups'));
    let restored: Restored;
    do {
      restored = await operator.post<Restored>(`/backups/${id}/restore`);
      context.out.progress(`${restored.restored_chunks} of ${restored.chunks} chunks…`);
    } while (!restored.done);
    context.out.fields(restored, {
      id,
      rows: restored.rows,
      'rows left out': restored.skipped_rows,
      accounts: restored.accounts,
    });
    return 0;
  },
});

export const backupCommands = [backUpService, backups, restoreService];
