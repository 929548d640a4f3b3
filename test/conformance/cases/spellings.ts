import { candidateKeys } from '../../../src/shared/rules/license-key.ts';
import { claimsOf } from './signing.ts';
import { LICENSE_KEY } from '../world.ts';

const spellingsOf = (stored: string, typed: string[], others: string[]) => {
  for (const text of [stored, ...typed])
    if (!candidateKeys(text).includes(stored)) throw new Error(`${text} doesn’t find ${stored}.`);
  for (const text of others)
    if (candidateKeys(text).includes(stored)) throw new Error(`${text} finds ${stored}.`);
  return { stored, lk: claimsOf({ license_key: stored }).lk, typed, others };
};

/** How customers type license keys. The service itself finds the stored key, or doesn't. */
export const spellingCases = () => ({
  about:
    'Texts by which the service finds a stored license key, texts by which it doesn’t, and the claim lk of the key’s tokens.',
  cases: [
    spellingsOf(
      LICENSE_KEY,
      [
        '7k3qd-9wzxa-m2rtb-h5nve-40gpw',
        '7K3QD9WZXAM2RTBH5NVE40GPW',
        '7k3qd 9wzxa m2rtb h5nve 40gpw',
        ' 7K3QD-9WZXA-M2RTB-H5NVE-40GPW\t',
        '7K3QD-9WZXA-M2RTB-H5NVE-4OGPW',
        '7-K-3-Q-D-9-W-Z-X-A-M-2-R-T-B-H-5-N-V-E-4-o-G-P-W',
      ],
      ['7K3QD-9WZXA-M2RTB-H5NVE-40GPX', '7K3QD-9WZXA-M2RTB-H5NVE-40GP', '7K3QD_9WZXA_M2RTB_H5NVE_40GPW'],
    ),
    spellingsOf(
      '16BGN-TZ49E-KRX27-CHPV0-5AFMN',
      ['l6bgn-tz49e-krx27-chpv0-5afmn', 'I6BGN TZ49E KRX27 CHPVO 5AFMN', '16BGNTZ49EKRX27CHPVO5AFMN'],
      ['61BGN-TZ49E-KRX27-CHPV0-5AFMN', '16BGN-TZ49E-KRX27-CHPV0-5AFMN-0'],
    ),
    // A key that a seller has brought is found by its exact text alone.
    spellingsOf('Acme.Team_0001', [], ['acme.team_0001', 'Acme.Team_OOO1', 'Acme.Team_0001 ']),
    spellingsOf('order-1042-o', [], ['ORDER-1042-O', 'order-1042-0', 'order1042o']),
  ],
});
