// Where a webhook may go: https, to a public host, by name. What a name resolves to can't be seen here.

export interface UrlRules {
  /** The service's own host names: a webhook to them would call itself. */
  ownHosts: string[];
  /** Local runs only. */
  allowLoopback: boolean;
}

const LOOPBACK_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Names that never lead to a public host. */
const PRIVATE_SUFFIXES = [
  'localhost',
  'local',
  'internal',
  'intranet',
  'lan',
  'home.arpa',
  'test',
  'invalid',
  'example',
  'onion',
];

/** Labels with dots between, the last of which is no number; parsing has made other letters into these. */
const PUBLIC_NAME = /^([a-z0-9_-]{1,63}\.)+[a-z][a-z0-9-]*$/;

const endsWithName = (host: string, name: string) => host === name || host.endsWith(`.${name}`);

/** URL parsing has made every spelling of an IPv4 address (octal, hex, one number) into four numbers. */
const isIpLiteral = (host: string) => host.startsWith('[') || /^\d+(\.\d+){3}$/.test(host);

const hostProblem = (host: string, { ownHosts }: UrlRules): string | null => {
  if (isIpLiteral(host)) return 'must name its host: an IP address is not accepted';
  if (host.endsWith('.')) return 'must not end its host with a dot';
  if (!PUBLIC_NAME.test(host)) return 'must have a public host';
  if (PRIVATE_SUFFIXES.some((suffix) => endsWithName(host, suffix))) return 'must have a public host';
  if (ownHosts.some((own) => endsWithName(host, own))) return 'must not lead back to this service';
  return null;
};

/** What is wrong with a URL, or null if a webhook may go there. */
export const webhookUrlProblem = (text: string, rules: UrlRules): string | null => {
  const url = URL.parse(text);
  if (!url) return 'must be a URL';
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or password';
  if (url.hash !== '') return 'must not have a fragment';
  const isLoopback = LOOPBACK_HOSTS.has(url.hostname);
  if (rules.allowLoopback && isLoopback && /^https?:$/.test(url.protocol)) return null;
  if (url.protocol !== 'https:') return 'must begin with https://';
  if (url.port !== '') return 'must use the standard port, 443';
  return hostProblem(url.hostname, rules);
};
