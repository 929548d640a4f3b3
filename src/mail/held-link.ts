import { type SQL, sql } from 'drizzle-orm';
import { heldNotices } from '../db/schema.ts';
import { type SealingRing, seal, unseal } from '../shared/crypto/sealing.ts';
import type { MailContent } from '../shared/text/mail-content.ts';

// The token in the link of a held notice is sealed: it would let any reader of D1 in.

const MARK = '#token=';

const ownerOf = (email: string) => [email];

const withToken = async (
  content: MailContent,
  work: (token: string) => Promise<string>,
): Promise<MailContent> => {
  const { link } = content;
  const at = link?.url.indexOf(MARK) ?? -1;
  if (!link || at === -1) return content;
  const start = at + MARK.length;
  return {
    ...content,
    link: { ...link, url: link.url.slice(0, start) + (await work(link.url.slice(start))) },
  };
};

export const sealLink = (ring: SealingRing, content: MailContent, email: string): Promise<MailContent> =>
  withToken(content, (token) => seal(ring, token, ownerOf(email)));

export const unsealLink = (ring: SealingRing, content: MailContent, email: string): Promise<MailContent> =>
  withToken(content, (token) => unseal(ring, token, ownerOf(email)));

const url = sql`(${heldNotices.content} ->> '$.link.url')`;

/** The sealed token of a row, or null. */
export const heldToken: SQL = sql`iif(instr(${url}, ${MARK}) > 0, substr(${url}, instr(${url}, ${MARK}) + ${MARK.length}), NULL)`;
