// IPv4 and IPv6 addresses and CIDR blocks. An IPv4 address in IPv6 form (::ffff:192.0.2.1) is the IPv4 address.

export const MAX_ALLOWED_IPS = 32;

/** The addresses that begin with the same bits. A single address is a block with all of its bits. */
interface Block {
  /** 4 bytes of an IPv4 address or 16 of an IPv6 address, with zeros after the prefix. */
  bytes: number[];
  prefix: number;
}

const MAPPED_PREFIX = 96;

const parseIpv4 = (text: string): number[] | null => {
  // A number with a leading zero is refused, because some programs read it as octal.
  const bytes = text.split('.').map((part) => (/^(?:0|[1-9]\d{0,2})$/.test(part) ? Number(part) : NaN));
  return bytes.length === 4 && bytes.every((byte) => byte <= 255) ? bytes : null;
};

/** Returns the canonical text of an IPv6 address, as URLs have it, or null. */
const canonicalIpv6 = (text: string): string | null =>
  /^[\da-f:.]+$/i.test(text) ? (URL.parse(`http://[${text}]`)?.hostname.slice(1, -1) ?? null) : null;

const parseIpv6 = (text: string): number[] | null => {
  const [left = '', right] = canonicalIpv6(text)?.split('::') ?? [];
  const groupsOf = (side: string | undefined) => (side ? side.split(':') : []);
  const [head, tail] = [groupsOf(left), groupsOf(right)];
  if (head.length + tail.length === 0 && right === undefined) return null;
  const zeros = Array<string>(8 - head.length - tail.length).fill('0');
  return [...head, ...zeros, ...tail].flatMap((group) => {
    const value = parseInt(group, 16);
    return [value >> 8, value & 255];
  });
};

const maskOf = (prefix: number, i: number) => 255 & ~(255 >> Math.max(0, Math.min(8, prefix - 8 * i)));

const isMapped = (bytes: number[]) =>
  bytes.length === 16 && bytes.slice(0, 12).every((byte, i) => byte === (i < 10 ? 0 : 255));

const parseBlock = (text: string): Block | null => {
  const [address = '', suffix, ...rest] = text.split('/');
  const bytes = address.includes(':') ? parseIpv6(address) : parseIpv4(address);
  if (!bytes || rest.length > 0) return null;
  const bits = 8 * bytes.length;
  if (suffix !== undefined && !/^(?:0|[1-9]\d{0,2})$/.test(suffix)) return null;
  const prefix = suffix === undefined ? bits : Number(suffix);
  if (prefix > bits) return null;
  const masked = bytes.map((byte, i) => byte & maskOf(prefix, i));
  return isMapped(masked) && prefix >= MAPPED_PREFIX
    ? { bytes: masked.slice(12), prefix: prefix - MAPPED_PREFIX }
    : { bytes: masked, prefix };
};

const writeIpv6 = (bytes: number[]): string | null => {
  const groups = Array.from({ length: 8 }, (_, i) => ((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0));
  return canonicalIpv6(groups.map((group) => group.toString(16)).join(':'));
};

/** Returns the canonical text of an address or a CIDR block, without bits after the prefix, or null if it is neither. */
export const canonicalBlock = (text: string): string | null => {
  const block = parseBlock(text);
  if (!block) return null;
  const { bytes, prefix } = block;
  const address = bytes.length === 4 ? bytes.join('.') : writeIpv6(bytes);
  return prefix === 8 * bytes.length ? address : `${address}/${prefix}`;
};

const contains = (block: Block, { bytes, prefix }: Block): boolean =>
  block.bytes.length === bytes.length &&
  block.prefix <= prefix &&
  block.bytes.every((byte, i) => byte === ((bytes[i] ?? 0) & maskOf(block.prefix, i)));

/** Whether one of the addresses or CIDR blocks is or contains the address. */
export const includesAddress = (blocks: readonly string[], address: string): boolean => {
  const sought = parseBlock(address);
  return (
    sought !== null &&
    blocks.some((text) => {
      const block = parseBlock(text);
      return block !== null && contains(block, sought);
    })
  );
};

/** Reduces an IPv6 address to its /64 network, because a single client usually controls all of its addresses. */
export const networkOf = (ip: string): string => {
  if (!ip.includes(':')) return ip;
  const [head = '', tail = ''] = ip.toLowerCase().split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === '' ? [] : tail.split(':');
  const zeros = ip.includes('::') ? Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0') : [];
  return [...left, ...zeros, ...right]
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':');
};
