import { command, given } from '../command.ts';
import { CliError } from '../failure.ts';
import { openOperator } from '../operator.ts';
import { type ListedAccount, accounts, fieldsOf } from './operator-accounts.ts';
import { backup, restore } from './operator-backup.ts';
import { moveDatabase } from './operator-database.ts';
import { invitations, invite, uninvite } from './operator-invitations.ts';
import { backupCommands } from './operator-service.ts';

const metrics = command({
  name: 'operator metrics',
  args: [],
  summary: 'Print the service’s metrics, in the text format of Prometheus',
  options: {},
  run: async (context) => {
    const response = await (await openOperator(context)).download('/metrics');
    context.out.text((await response.text()).trimEnd());
    return 0;
  },
});

const change = (action: 'suspend' | 'reinstate', summary: string) =>
  command({
    name: `operator ${action}`,
    args: ['ACCOUNT_ID'],
    summary,
    options: {},
    run: async (context, [id = '']) => {
      const account = await (await openOperator(context)).post<ListedAccount>(`/accounts/${id}/${action}`);
      context.out.fields(account, fieldsOf(account));
      return 0;
    },
  });

const resetTwoFactor = command({
  name: 'operator reset-two-factor',
  args: ['ACCOUNT_ID'],
  summary: 'Turn off an account’s two-factor authentication in 48 hours',
  details: [
    'For an owner who has lost the app and the recovery codes. The account’s address gets an email, and signing in with a code stops it.',
  ],
  options: {},
  run: async (context, [id = '']) => {
    const operator = await openOperator(context);
    const account = await operator.post<ListedAccount & { two_factor_reset_at: string }>(
      `/accounts/${id}/reset-two-factor`,
    );
    context.out.fields(account, {
      ...fieldsOf(account),
      'two-factor turns off': account.two_factor_reset_at,
    });
    return 0;
  },
});

const changeEmail = command({
  name: 'operator change-email',
  args: ['ACCOUNT_ID', 'EMAIL'],
  summary: 'Change an account’s email address in 48 hours',
  details: [
    'For an owner who has lost the mailbox. Make sure first that the new address is theirs. The old address gets an email, and signing in stops it.',
  ],
  options: {},
  run: async (context, [id = '', email = '']) => {
    const operator = await openOperator(context);
    const account = await operator.post<ListedAccount & { new_email: string; email_changes_at: string }>(
      `/accounts/${id}/change-email`,
      { email },
    );
    context.out.fields(account, {
      ...fieldsOf(account),
      'new email': account.new_email,
      'email changes': account.email_changes_at,
    });
    return 0;
  },
});

const plan = command({
  name: 'operator plan',
  args: ['ACCOUNT_ID', 'PLAN'],
  summary: 'Grant an account a plan without payment',
  details: ['The better one of the granted and the paid plan applies. The plan free ends the grant.'],
  options: { until: { value: 'TIME', help: 'When the grant ends, such as 2027-03-01T00:00:00Z' } },
  run: async (context, [id = '', name = ''], { until }) => {
    const operator = await openOperator(context);
    const account = await operator.post<ListedAccount>(`/accounts/${id}/plan`, {
      plan: name,
      ...given({ until }),
    });
    context.out.fields(account, fieldsOf(account));
    return 0;
  },
});

interface Orphans {
  licenses: { id: string; license_key: string; customer_email: string; status: string; kept_until: string }[];
  api_key_ids: string[];
  products: string[];
  total: number;
}

type Orphan = { kind: string; name: string } & Partial<Orphans['licenses'][number]>;

const orphans = command({
  name: 'operator orphans',
  args: ['ACCOUNT_ID'],
  summary: 'List what an account’s gate keeps although a restored D1 has lost it',
  details: [
    'The gate keeps it for 14 days. With --drop, D1 is right at once, including about what was revoked since.',
  ],
  options: { drop: { help: 'Give up what is listed, and load D1 as it is' } },
  run: async (context, [id = ''], { drop }) => {
    const operator = await openOperator(context);
    const found = await operator[drop ? 'delete' : 'get']<Orphans>(`/accounts/${id}/orphans`);
    const named = (kind: string, names: string[]) => names.map((name): Orphan => ({ kind, name }));
    const rows = [
      ...found.licenses.map((license): Orphan => ({
        kind: 'license',
        name: license.license_key,
        ...license,
      })),
      ...named('API key', found.api_key_ids),
      ...named('product', found.products),
    ];
    context.out.table(found, rows, {
      kind: ({ kind }) => kind,
      name: ({ name }) => name,
      customer: ({ customer_email = null }) => customer_email,
      status: ({ status = null }) => status,
      'kept until': ({ kept_until = null }) => kept_until,
    });
    if (rows.length < found.total)
      context.out.note(`${found.total} in all, of which ${rows.length} are listed.`);
    return 0;
  },
});

/** Calls without progress before the command gives up. */
const MAX_IDLE_CALLS = 3;

const reseal = command({
  name: 'operator reseal',
  args: [],
  summary: 'Seal all secrets with the first key of SEALING_KEYS',
  details: ['Can be interrupted and started again. Exits with 0 once nothing is left.'],
  options: { restart: { help: 'Look at all webhook secrets again, even if an earlier run has ended' } },
  run: async (context, _args, { restart }) => {
    const operator = await openOperator(context);
    let best = Infinity;
    for (let idle = 0, isFirst = true; idle < MAX_IDLE_CALLS; isFirst = false) {
      const result = await operator.post<{ left: number; old_secret_keys: number }>('/reseal', {
        restart: isFirst && restart === true,
      });
      if (result.left === 0) {
        context.out.fields(result, { left: 0, 'API keys of an old API_KEY_SECRET': result.old_secret_keys });
        return 0;
      }
      context.out.progress(`${result.left} left…`);
      idle = result.left < best ? 0 : idle + 1;
      best = Math.min(best, result.left);
    }
    throw new CliError(`${best} secrets can’t be sealed again.`, {
      advice: 'The logs name them as reseal_failed. Keep the old entries of SEALING_KEYS, and run it again.',
    });
  },
});

export const operatorCommands = [
  metrics,
  accounts,
  change('suspend', 'Refuse an account’s API keys, and let its sessions only read'),
  change('reinstate', 'Lift an account’s suspension'),
  resetTwoFactor,
  changeEmail,
  plan,
  moveDatabase,
  invite,
  invitations,
  uninvite,
  orphans,
  reseal,
  backup,
  restore,
  ...backupCommands,
];
