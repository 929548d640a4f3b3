// The custom domains of the double of Cloudflare's API.

/** The Worker of each domain, or null for a domain that has a DNS record of something else. */
export type Domains = Map<string, string | null>;

type Overrides = Record<string, unknown>;

/** Gives a domain to a Worker. What another one has, or a DNS record, is only replaced if the call says so. */
const give = (domains: Domains, hostname: string, service: string, overrides: Overrides) => {
  const holder = domains.get(hostname);
  if (holder === null && overrides['override_existing_dns_record'] !== true)
    throw new Error(`Hostname '${hostname}' already has externally managed DNS records.`);
  if (holder && holder !== service && overrides['override_existing_origin'] !== true)
    throw new Error(`Hostname '${hostname}' already in use by other custom domain.`);
  domains.set(hostname, service);
};

/** Wrangler's call for the domains of a configuration. With `override_scope`, the Worker loses its others. */
export const publish = (domains: Domains, service: string, body: string) => {
  const { origins, ...overrides } = JSON.parse(body) as Overrides & { origins: { hostname: string }[] };
  for (const { hostname } of origins) give(domains, hostname, service, overrides);
  const kept = origins.map(({ hostname }) => hostname);
  if (overrides['override_scope'] === true)
    for (const [hostname, holder] of domains)
      if (holder === service && !kept.includes(hostname)) domains.delete(hostname);
  return {};
};
