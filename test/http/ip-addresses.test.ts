import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalBlock, includesAddress } from '../../src/shared/rules/ip-addresses.ts';

const bits = (width: number) => fc.bigInt({ min: 0n, max: (1n << BigInt(width)) - 1n });
const ipv4Text = (value: bigint) => [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.');
const ipv6Text = (value: bigint) =>
  Array.from({ length: 8 }, (_, i) => ((value >> BigInt(112 - 16 * i)) & 0xffffn).toString(16)).join(':');

/** An address as a number, and the text of any number of its family. */
const family = fc.constantFrom(
  { width: 32, write: ipv4Text },
  // Not in ::ffff:0:0/96, whose addresses are IPv4 addresses.
  { width: 128, write: (value: bigint) => ipv6Text(value | (1n << 127n)) },
);

const INVALID = [
  '',
  '1.2.3',
  '01.2.3.4',
  '1.2.3.256',
  '1.2.3.4/33',
  '1.2.3.4/',
  '1.2.3.4/08',
  '1.2.3.4/1/2',
  '::/129',
];
const INVALID_IPV6 = [
  ':',
  ':::',
  '1::2::3',
  '1:2:3:4:5:6:7',
  'g::',
  'fe80::1%eth0',
  '[::1]',
  '::1]@[::2',
  '12345::',
];

describe('addresses and CIDR blocks', () => {
  test.for([
    ['192.0.2.7', '192.0.2.7'],
    ['192.0.2.7/32', '192.0.2.7'],
    ['192.0.2.7/24', '192.0.2.0/24'],
    ['10.1.2.3/0', '0.0.0.0/0'],
    ['2001:DB8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['2001:db8::ffff/32', '2001:db8::/32'],
    ['0010:0:0:5::', '10:0:0:5::'],
    ['::', '::'],
    ['::/0', '::/0'],
    ['::FFFF:192.0.2.7', '192.0.2.7'],
    ['::ffff:c000:207/120', '192.0.2.0/24'],
    ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
  ] as const)('%s is written as %s', ([text, canonical]) => {
    expect(canonicalBlock(text)).toBe(canonical);
  });

  test.for([...INVALID, ...INVALID_IPV6])('%j is neither', (text) => {
    expect(canonicalBlock(text)).toBeNull();
    expect(includesAddress(['0.0.0.0/0', '::/0'], text)).toBe(false);
  });

  test('a block includes exactly the addresses of its family that begin with its bits', () => {
    fc.assert(
      fc.property(family, bits(127), bits(127), fc.nat({ max: 128 }), ({ width, write }, a, b, length) => {
        const [prefix, mask] = [BigInt(length % (width + 1)), (1n << BigInt(width)) - 1n];
        const rest = BigInt(width) - prefix;
        const block = canonicalBlock(`${write(a & mask)}/${prefix}`) ?? '';
        const near = (((a & mask) >> rest) << rest) | (b & ((1n << rest) - 1n));
        expect(includesAddress([block], write(near))).toBe(true);
        const [first, other] = [a, b].map((each) => canonicalBlock(write(each & mask)) ?? '');
        const isInside =
          canonicalBlock(`${other}/${prefix}`) === block || (prefix === BigInt(width) && first === other);
        expect(includesAddress([block], other ?? '')).toBe(isInside);
        expect(canonicalBlock(block)).toBe(block);
      }),
    );
  });

  test('IPv4 blocks include IPv4 addresses in IPv6 form, and IPv6 blocks include no IPv4 address', () => {
    fc.assert(
      fc.property(bits(32), fc.nat({ max: 32 }), (value, prefix) => {
        const block = `${ipv4Text(value)}/${prefix}`;
        expect(includesAddress([block], `::ffff:${ipv4Text(value)}`)).toBe(true);
        expect(includesAddress(['::/0', '2000::/3'], ipv4Text(value))).toBe(false);
      }),
    );
    expect(includesAddress(['0.0.0.0/0'], '2001:db8::1')).toBe(false);
  });
});
