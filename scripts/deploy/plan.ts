// What a service lacks, and how it is made. Each step looks first, so that a deployment can be repeated and continued.
import type { CloudflareAccount } from './cloudflare.ts';
import { bucketsOf, type Configuration, queuesOf } from './configuration.ts';
import { DeployError, fail } from './fail.ts';
import type { OwnSettings, Target } from './target.ts';

export interface Step {
  title: string;
  run: () => Promise<void>;
}

export interface Found {
  /** The secrets that the Worker has. Null if there is no Worker. */
  secrets: string[] | null;
  databases: Record<string, string>;
  queues: Record<string, string>;
  buckets: Record<string, string>;
  /** The Worker that has the domain. Null if none has it, or if there is no domain. */
  workerAtDomain: string | null;
}

const entriesOf = async (names: string[], find: (name: string) => Promise<string | null>) => {
  const found: Record<string, string> = {};
  for (const name of names) {
    const id = await find(name);
    if (id !== null) found[name] = id;
  }
  return found;
};

export const lookAround = async (
  account: CloudflareAccount,
  configuration: Configuration,
  { domain }: OwnSettings,
): Promise<Found> => ({
  secrets: await account.listSecrets(configuration.name),
  databases: await entriesOf(
    configuration.d1_databases.map(({ database_name }) => database_name),
    account.findDatabase,
  ),
  queues: await entriesOf(queuesOf(configuration), account.findQueue),
  buckets: await entriesOf(bucketsOf(configuration), account.findBucket),
  workerAtDomain: domain ? await account.findWorkerAt(domain) : null,
});

/** The steps that create what is missing. `settings` learns the ids of the databases, and `save` writes them down. */
export const planResources = (
  account: CloudflareAccount,
  configuration: Configuration,
  found: Found,
  settings: OwnSettings,
  save: () => void,
): Step[] => [
  ...configuration.d1_databases
    .filter(({ database_name }) => !found.databases[database_name])
    .map(({ binding, database_name }) => ({
      title: `Create the D1 database ${database_name}`,
      run: async () => {
        settings.databases[binding] = await account.createDatabase(database_name);
        save();
      },
    })),
  ...queuesOf(configuration)
    .filter((queue) => !found.queues[queue])
    .map((queue) => ({
      title: `Create the queue ${queue}`,
      run: async () => void (await account.createQueue(queue)),
    })),
  ...bucketsOf(configuration)
    .filter((bucket) => !found.buckets[bucket])
    .map((bucket) => ({
      title: `Create the R2 bucket ${bucket} for backups`,
      run: async () => void (await account.createBucket(bucket)),
    })),
];

/**
 * The step that gives a new domain to the Worker. Wrangler isn't told the domain: where it can't ask, it takes it from another
 * Worker, and replaces a website's DNS record.
 */
export const planDomain = (
  account: CloudflareAccount,
  { name, settingsFile }: Target,
  { domain }: OwnSettings,
  { workerAtDomain }: Found,
): Step[] => {
  if (!domain || workerAtDomain === name) return [];
  const run = async () => {
    try {
      await account.connectDomain(name, domain);
    } catch (error) {
      if (!(error instanceof DeployError)) throw error;
      fail(
        `${error.message}\nNothing was taken from anybody. If a DNS record has ${domain}, delete it, or set another domain in ${settingsFile}. Then run the command again.`,
      );
    }
  };
  return [{ title: `Connect ${domain} to the Worker, unless something else has it`, run }];
};

/** Takes over the ids of databases that exist. A database that was written down must still be the one of that name. */
export const adopt = (
  { settingsFile }: Target,
  configuration: Configuration,
  found: Found,
  settings: OwnSettings,
): string | null => {
  for (const { binding, database_name } of configuration.d1_databases) {
    const [known, id] = [settings.databases[binding], found.databases[database_name]];
    if (known && known !== id)
      return `The database ${database_name} isn’t the one that was deployed (${known}): it was deleted or renamed. To go on without it, delete its id from ${settingsFile}. docs/backups.md#restore-a-service says how to bring back what it had.`;
    if (id) settings.databases[binding] = id;
  }
  const { workerAtDomain } = found;
  if (workerAtDomain && workerAtDomain !== configuration.name)
    return `${settings.domain} is the domain of the Worker ${workerAtDomain}. Set another one, or remove it there first.`;
  return null;
};
