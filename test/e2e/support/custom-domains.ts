// The custom domains of the double of Cloudflare's API.

/** The Worker of each domain, or null for a domain that has a DNS record of something else. */
export type Domains = Map<string, string | null>;

/** Gives domains to a Worker. What another one has, or a DNS record, is only replaced if the call says so. */
export const connect = (domains: Domains, service: string, body: string) => {
  const call = JSON.parse(body) as Record<string, unknown> & { origins: { hostname: string }[] };
  for (const { hostname } of call.origins) {
    const holder = domains.get(hostname);
    if (holder === null && call['override_existing_dns_record'] !== true)
      throw new Error(`Hostname '${hostname}' already has externally managed DNS records.`);
    if (holder && holder !== service && call['override_existing_origin'] !== true)
      throw new Error(`Hostname '${hostname}' is the domain of another Worker.`);
    domains.set(hostname, service);
  }
  return {};
};
