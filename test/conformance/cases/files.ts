import { ACCOUNT, FINGERPRINT, LICENSE_KEY, OTHER_ACCOUNT, PRODUCT, START } from '../world.ts';
import { claimsOf, keyNumber, NOW_MS, signAnything } from './signing.ts';

const APPLICATION = {
  license_key: null as string | null,
  fingerprint: FINGERPRINT as string | null,
  product: PRODUCT,
  release_date: null as string | null,
};

interface FileCase {
  name: string;
  code: string;
  text: string;
  application?: Partial<typeof APPLICATION>;
  now?: string;
}

const wrap = (text: string, width: number, by: string) =>
  (text.match(new RegExp(`.{1,${width}}`, 'g')) ?? []).join(by);
const later = (seconds: number) => new Date(NOW_MS + seconds * 1_000).toISOString();
const DAYS_180 = 180 * 86_400;

export const fileCases = async () => {
  const own = await keyNumber(1);
  const sign = async (changes: Parameters<typeof claimsOf>[0] = {}, account = ACCOUNT, number = 1) => {
    const { jwk, privateKey } = await keyNumber(number);
    const claims = claimsOf({ kind: 'offline', nonce: null, offline_days: 180, ...changes }, account);
    return signAnything({ jwk, privateKey }, { alg: 'EdDSA', typ: 'latchkey+jwt', kid: jwk.kid }, claims);
  };
  const file = await sign();
  const unlimited = await sign({ fingerprint: null, activation: null });
  const updates = await sign({ updates_until: '2026-11-21' });
  const cases: FileCase[] = [
    { name: 'A file', code: 'valid', text: file },
    { name: 'A file, one second before it ends', code: 'valid', text: file, now: later(DAYS_180 - 1) },
    { name: 'White space around it', code: 'valid', text: `\n  ${file}\t\r\n` },
    { name: 'Lines of 76 characters', code: 'valid', text: wrap(file, 76, '\r\n') },
    { name: 'Lines that are indented', code: 'valid', text: wrap(file, 60, '\n    ') },
    { name: 'A file for any machine, of a license without a limit of seats', code: 'valid', text: unlimited },
    {
      name: 'The same, for an application without a fingerprint',
      code: 'valid',
      text: unlimited,
      application: { fingerprint: null },
    },
    {
      name: 'A release that the license’s updates cover',
      code: 'valid',
      text: updates,
      application: { release_date: '2026-11-21' },
    },
    {
      name: 'A file whose license key the application has',
      code: 'valid',
      text: file,
      application: { license_key: LICENSE_KEY },
    },
    { name: 'No text', code: 'file_invalid', text: '' },
    { name: 'Another text', code: 'file_invalid', text: 'Dear customer, your license is attached.' },
    { name: 'A file that was cut off', code: 'file_invalid', text: file.slice(0, -40) },
    { name: 'A file that begins late', code: 'file_invalid', text: file.slice(3) },
    { name: 'A file with a letter changed', code: 'file_invalid', text: file.replace(/.(?=.{60}$)/, (c) => (c === 'x' ? 'y' : 'x')) },
    { name: 'The file twice', code: 'file_invalid', text: `${file}\n${file}` },
    { name: 'A file of another account', code: 'file_invalid', text: await sign({}, OTHER_ACCOUNT) },
    { name: 'A file by a key that is not trusted', code: 'file_invalid', text: await sign({}, ACCOUNT, 2) },
    {
      name: 'The token of an answer',
      code: 'file_invalid',
      text: await sign({ kind: 'online', nonce: 'nonce-0123456789' }),
    },
    { name: 'A file for another machine', code: 'not_activated', text: await sign({ fingerprint: 'machine-9876543210' }) },
    { name: 'A file for another product', code: 'wrong_product', text: await sign({ product: 'other' }) },
    {
      name: 'A release that is later than the license’s updates',
      code: 'updates_ended',
      text: updates,
      application: { release_date: '2026-11-22' },
    },
    { name: 'A file that has ended', code: 'offline_expired', text: file, now: later(DAYS_180) },
    { name: 'A file that is issued in 300 seconds', code: 'valid', text: file, now: later(-300) },
    { name: 'A file that is issued tomorrow', code: 'clock_rolled_back', text: file, now: later(-86_400) },
  ];
  return {
    about:
      'Texts that customers load as offline files, and the code that the application shows. The state is valid exactly if the code is.',
    account: ACCOUNT,
    keys: [own.jwk],
    now: START,
    application: APPLICATION,
    cases,
  };
};
