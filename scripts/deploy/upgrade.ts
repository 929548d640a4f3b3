// What one release of the code changes about a service that runs another one. Both are read from git, before anything is updated.
import { parse } from 'smol-toml';

/** The files of a release that say what a service is made of. */
export interface Release {
  /** wrangler.toml */
  configuration: string;
  /** package.json */
  manifest: string;
  changelog: string;
  copyTables: string;
  /** The migrations' names, in their order. */
  migrations: string[];
}

interface Configuration {
  vars?: Record<string, string>;
  secrets?: { required?: string[] };
  migrations?: { tag: string; new_sqlite_classes?: string[] }[];
  triggers?: { crons?: string[] };
  compatibility_date?: string;
  d1_databases?: { binding: string }[];
  r2_buckets?: { binding: string }[];
  queues?: { producers?: { queue: string }[]; consumers?: { queue: string }[] };
}

const configurationOf = ({ configuration }: Release) => parse(configuration) as Configuration;
export const versionOf = ({ manifest }: Release) => (JSON.parse(manifest) as { version: string }).version;
const nodeOf = ({ manifest }: Release) =>
  (JSON.parse(manifest) as { engines?: { node?: string } }).engines?.node ?? 'any';
const copyVersionOf = ({ copyTables }: Release) => /COPY_VERSION = (\d+)/.exec(copyTables)?.[1] ?? 'none';

/** Names of what a service has in Cloudflare. */
const resourcesOf = ({ d1_databases = [], r2_buckets = [], queues = {}, migrations = [] }: Configuration) => [
  ...d1_databases.map(({ binding }) => `the D1 database of ${binding}`),
  ...r2_buckets.map(({ binding }) => `the R2 bucket of ${binding}`),
  ...new Set(
    [...(queues.producers ?? []), ...(queues.consumers ?? [])].map(({ queue }) => `the queue ${queue}`),
  ),
  ...migrations.flatMap(({ new_sqlite_classes = [] }) =>
    new_sqlite_classes.map((name) => `the Durable Objects ${name}`),
  ),
];

const missing = (names: string[], others: string[]) => names.filter((name) => !others.includes(name));

const settingsChanges = (before: Record<string, string>, after: Record<string, string>, own: string[]) => [
  ...missing(Object.keys(after), Object.keys(before)).map(
    (name) => `new: ${name}, "${after[name]}" unless set`,
  ),
  ...missing(Object.keys(before), Object.keys(after)).map(
    (name) => `gone: ${name}${own.includes(name) ? ', which your settings have: take it out' : ''}`,
  ),
  ...Object.keys(after)
    .filter((name) => name in before && before[name] !== after[name])
    .map(
      (name) =>
        `another default: ${name}, "${after[name]}" instead of "${before[name]}"${own.includes(name) ? '; yours stays' : ''}`,
    ),
];

/** The sections of the changelog that the release before doesn't have. */
const newNotes = (before: Release, after: Release): string[] => {
  const titles = new Set(before.changelog.match(/^## .*$/gm));
  return after.changelog
    .split(/^(?=## )/m)
    .filter((section) => section.startsWith('## ') && !titles.has(section.split('\n')[0] ?? ''))
    .flatMap((section) => section.trim().split('\n'))
    .filter((line) => line !== '');
};

export interface Finding {
  title: string;
  lines: string[];
}

const changed = (what: string, from: string, to: string) =>
  from === to ? [] : [`${what}: ${to} instead of ${from}`];

/** Returns what an update changes, by subject. `own` are the names of the variables that the operator has set. */
export const compareReleases = (before: Release, after: Release, own: string[]): Finding[] => {
  const [old, next] = [configurationOf(before), configurationOf(after)];
  const migrations = missing(after.migrations, before.migrations);
  const lost = missing(before.migrations, after.migrations);
  return [
    {
      title: 'Migrations, which each database gets before the code',
      lines: [...migrations, ...lost.map((name) => `gone: ${name}. Is it an older release?`)],
    },
    { title: 'Settings', lines: settingsChanges(old.vars ?? {}, next.vars ?? {}, own) },
    {
      title: 'Secrets that `npm run deploy` makes',
      lines: missing(next.secrets?.required ?? [], old.secrets?.required ?? []),
    },
    { title: 'New in your Cloudflare account', lines: missing(resourcesOf(next), resourcesOf(old)) },
    {
      title: 'Runs otherwise',
      lines: [
        ...changed('Node.js for the commands', nodeOf(before), nodeOf(after)),
        ...changed('compatibility date', old.compatibility_date ?? 'none', next.compatibility_date ?? 'none'),
        ...changed(
          'cron triggers',
          (old.triggers?.crons ?? []).join(', '),
          (next.triggers?.crons ?? []).join(', '),
        ),
        ...(copyVersionOf(before) === copyVersionOf(after)
          ? []
          : ['each gate loads its copy again within ten minutes of its next call']),
      ],
    },
    { title: 'The changelog', lines: newNotes(before, after) },
  ].filter(({ lines }) => lines.length > 0);
};
