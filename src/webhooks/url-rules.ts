// Rules for webhook URLs: https and a public hostname. A Worker can't see what a hostname resolves to.

export interface UrlRules {
  /** The service's own hostnames. A webhook to them would make the service call itself. */
  ownHosts: string[];
  /** Only true for local runs. */
  allowLoopback: boolean;
}

const LOOPBACK_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Domains that are never public. */
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

/** Labels separated by dots. The last label isn't a number. URL parsing has already applied Punycode. */
const PUBLIC_HOSTNAME = /^([a-z0-9_-]{1,63}\.)+[a-z][a-z0-9-]*$/;

const isWithinDomain = (host: string, domain: string) => host === domain || host.endsWith(`.${domain}`);

/** URL parsing normalizes every notation of an IPv4 address (octal, hex, a single number) to four numbers. */
const isIpLiteral = (host: string) => host.startsWith('[') || /^\d+(\.\d+){3}$/.test(host);

const hostProblem = (host: string, { ownHosts }: UrlRules): string | null => {
  if (isIpLiteral(host)) return 'must have a hostname: IP addresses are not allowed';
  if (host.endsWith('.')) return 'must not have a hostname that ends with a dot';
  if (!PUBLIC_HOSTNAME.test(host)) return 'must have a public hostname';
  if (PRIVATE_SUFFIXES.some((suffix) => isWithinDomain(host, suffix))) return 'must have a public hostname';
  if (ownHosts.some((own) => isWithinDomain(host, own))) return 'must not point to this service';
  return null;
};

/** Returns what is wrong with a webhook URL, or null if it is allowed. */
export const webhookUrlProblem = (text: string, rules: UrlRules): string | null => {
  const url = URL.parse(text);
  if (!url) return 'must be a URL';
  if (url.username !== '' || url.password !== '') return 'must not contain a username or password';
  if (url.hash !== '') return 'must not have a fragment';
  const isLoopback = LOOPBACK_HOSTS.has(url.hostname);
  if (rules.allowLoopback && isLoopback && /^https?:$/.test(url.protocol)) return null;
  if (url.protocol !== 'https:') return 'must start with https://';
  if (url.port !== '') return 'must use port 443';
  return hostProblem(url.hostname, rules);
};
