// Makes the configuration of one service out of wrangler.toml and the operator's own settings.
import { readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'smol-toml';
import { databasesOf, type OwnSettings, type Target } from './target.ts';

interface Queue {
  queue: string;
  dead_letter_queue?: string;
}

/** The parts of wrangler.toml that differ between services. */
export interface Configuration {
  name: string;
  vars: Record<string, string>;
  d1_databases: { binding: string; database_name: string; database_id?: string; migrations_dir: string }[];
  queues: { producers: (Queue & { binding: string })[]; consumers: Queue[] };
  r2_buckets: { binding: string; bucket_name: string }[];
  analytics_engine_datasets?: { binding: string; dataset: string }[];
  secrets: { required: string[] };
  /** A service has no routes, but a custom domain, which `planDomain` connects. */
  routes?: never[];
  workers_dev?: boolean;
  account_id?: string;
}

const BASE = 'wrangler.toml';

export const readBase = () => parse(readFileSync(BASE, 'utf8')) as unknown as Configuration;

/** A service that the internet can find begins with nobody but its operator. */
const BEGINNING = { REGISTRATION: 'invite' };

/** Where a service answers, if its settings say so. Otherwise, it answers at its address on workers.dev. */
export const originOf = ({ vars, domain }: OwnSettings): string | null =>
  vars['PUBLIC_ORIGIN'] || (domain ? `https://${domain}` : null);

/** The dataset of a service's requests. A hyphen would have to be quoted in its queries. */
export const datasetOf = ({ name }: Pick<Target, 'name'>): string => `${name.replaceAll('-', '_')}_requests`;

/** The secrets that the deployment makes. With the operator's token, it prints the first owner's link. */
export const secretsOf = (base: Configuration): string[] => [...base.secrets.required, 'OPERATOR_TOKEN'];

/**
 * `known` are the variables that the deployment itself sets. `isOnWorkersDev` says whether the service answers there already, which
 * a domain doesn't change.
 */
export const configure = (
  base: Configuration,
  target: Target,
  settings: OwnSettings,
  known: Record<string, string> = {},
  isOnWorkersDev = false,
): Configuration => {
  const { name } = target;
  const rename = (resource: string) => resource.replace(base.name, name);
  const vars: Record<string, string> = {
    ...base.vars,
    ...BEGINNING,
    ...settings.vars,
    ...known,
  };
  const databases = Object.entries(databasesOf(name, vars['DATABASES'] ?? 'DB'));
  return {
    ...base,
    name,
    ...(settings.account_id && { account_id: settings.account_id }),
    vars,
    d1_databases: databases.map(([binding, database_name]) => ({
      binding,
      database_name,
      ...(settings.databases[binding] && { database_id: settings.databases[binding] }),
      migrations_dir: 'drizzle',
    })),
    queues: {
      producers: base.queues.producers.map((producer) => ({ ...producer, queue: rename(producer.queue) })),
      consumers: base.queues.consumers.map((consumer) => ({
        ...consumer,
        queue: rename(consumer.queue),
        ...(consumer.dead_letter_queue && { dead_letter_queue: rename(consumer.dead_letter_queue) }),
      })),
    },
    r2_buckets:
      settings.backups === false
        ? []
        : base.r2_buckets.map((bucket) => ({
            ...bucket,
            bucket_name: rename(bucket.bucket_name),
          })),
    ...(settings.traffic && {
      analytics_engine_datasets: [{ binding: 'TRAFFIC', dataset: datasetOf(target) }],
    }),
    secrets: { required: secretsOf(base) },
    ...(settings.domain && { routes: [] }),
    workers_dev: !settings.domain || isOnWorkersDev,
  };
};

export const queuesOf = ({ queues }: Configuration): string[] => [
  ...new Set([...queues.producers, ...queues.consumers].map(({ queue }) => queue)),
];

export const bucketsOf = ({ r2_buckets }: Configuration): string[] =>
  r2_buckets.map(({ bucket_name }) => bucket_name);

export const writeConfiguration = ({ configFile }: Target, configuration: Configuration): void =>
  writeFileSync(configFile, `${JSON.stringify(configuration, null, 2)}\n`);
