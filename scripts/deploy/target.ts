// What one service of an operator is called and made of: production, or an environment beside it, which shares nothing with it.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parseDatabases } from '../../src/shared/config/databases.ts';
import { parseOrigin } from '../../src/shared/config/parse.ts';
import { fail } from './fail.ts';

export const PRODUCTION = 'production';

/** The operator's own settings. They are in a file that git ignores, so that an update of the code never touches them. */
export interface OwnSettings {
  /** The Cloudflare account. Written by the first deployment. */
  account_id?: string;
  /** Where the service answers, such as `licenses.example.com`. Without it, at its address on workers.dev. */
  domain?: string;
  /** False if the service has no bucket for backups, because the account has no R2. */
  backups?: boolean;
  /** True if the service writes its requests to Analytics Engine, which the account has to have switched on. */
  traffic?: boolean;
  /** Variables that differ from those of wrangler.toml. */
  vars: Record<string, string>;
  /** The ids of the D1 databases by binding. Written by the deployment that creates them. */
  databases: Record<string, string>;
}

export interface Target {
  environment: string;
  /** The name of the Worker, with which the names of everything else begin. */
  name: string;
  settingsFile: string;
  recoveryFile: string;
  configFile: string;
}

/** Other environments have names of their own for everything, since what is named alike is shared. */
export const targetOf = (environment: string, baseName: string): Target => {
  if (!/^[a-z][a-z0-9]{0,19}$/.test(environment))
    fail('--env takes a name of small letters and digits, such as staging.');
  return {
    environment,
    name: environment === PRODUCTION ? baseName : `${baseName}-${environment}`,
    settingsFile: `deploy.${environment}.json`,
    recoveryFile: `deploy.${environment}.recovery`,
    configFile: `wrangler.${environment}.json`,
  };
};

const isTexts = (value: unknown): value is Record<string, string> =>
  typeof value === 'object' &&
  value !== null &&
  Object.values(value).every((text) => typeof text === 'string');

const readOrigin = (name: string, text: string): string => {
  try {
    return parseOrigin(text);
  } catch (error) {
    return fail(`${name} ${(error as Error).message}`);
  }
};

const readDomain = (file: string, text: string): string => {
  const name = `${file}: domain`;
  if (!/^[^/:]+$/.test(text)) fail(`${name} must be a name, such as licenses.example.com.`);
  return new URL(readOrigin(name, `https://${text}`)).hostname;
};

/** Returns the settings, with addresses as the Worker reads them: without a slash at the end, and in small letters. */
export const readSettings = ({ settingsFile }: Pick<Target, 'settingsFile'>): OwnSettings => {
  if (!existsSync(settingsFile)) return { vars: {}, databases: {} };
  let settings: Partial<OwnSettings>;
  try {
    settings = JSON.parse(readFileSync(settingsFile, 'utf8')) as Partial<OwnSettings>;
  } catch {
    return fail(`${settingsFile} isn’t JSON.`);
  }
  const { vars = {}, databases = {} } = settings;
  if (!isTexts(vars) || !isTexts(databases))
    fail(`${settingsFile}: the values of vars and databases are texts.`);
  const { PUBLIC_ORIGIN: origin } = vars;
  if (origin) vars['PUBLIC_ORIGIN'] = readOrigin(`${settingsFile}: PUBLIC_ORIGIN`, origin);
  if (settings.domain) settings.domain = readDomain(settingsFile, settings.domain);
  return { ...settings, vars, databases };
};

const SETTINGS_FILE = /^deploy\.[a-z][a-z0-9]{0,19}\.json$/;

/** Two services can't share a domain. A copy of another environment's settings still has it. */
export const refuseSharedDomain = ({ settingsFile }: Target, { domain }: OwnSettings): void => {
  if (!domain) return;
  const others = readdirSync('.').filter((file) => SETTINGS_FILE.test(file) && file !== settingsFile);
  for (const other of others)
    if (readSettings({ settingsFile: other }).domain === domain)
      fail(`${other} has the domain ${domain}, too. Set another one in ${settingsFile}, or none.`);
};

export const writeSettings = ({ settingsFile }: Target, settings: OwnSettings): void =>
  writeFileSync(settingsFile, `${JSON.stringify(settings, null, 2)}\n`);

const readDatabases = (list: string) => {
  try {
    return parseDatabases(list);
  } catch (error) {
    return fail(`DATABASES ${(error as Error).message}`);
  }
};

/** Returns the name of each D1 database by its binding, such as `latchkey-2` for `DB2`. */
export const databasesOf = (name: string, list: string): Record<string, string> =>
  Object.fromEntries(
    readDatabases(list).map(({ binding }) => [
      binding,
      binding === 'DB' ? name : `${name}-${binding.replace(/^DB/, '').toLowerCase()}`,
    ]),
  );
