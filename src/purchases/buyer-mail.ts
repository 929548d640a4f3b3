import { and, eq } from 'drizzle-orm';
import { databaseOf, firstDatabase } from '../db/client.ts';
import { accounts, portals, productMails, type ProductMailRow, products } from '../db/schema.ts';
import type { Sender } from '../mail/letter.ts';
import { settingsOf } from '../shared/config/settings.ts';
import type { MailContent } from '../shared/text/mail-content.ts';
import { type BoughtKey, keysBought, type Seller } from './mail-content.ts';

// How an email to a buyer comes about: for a purchase, for its preview, and for a test of it.

/** What a seller says in the email of a product. */
export type OwnWords = Pick<ProductMailRow, 'fromName' | 'intro' | 'supportUrl'>;

/** What the seller says to the buyers of a product. `draft` replaces what is stored. */
export const readSeller = async (
  env: Env,
  accountId: string,
  code: string,
  draft: Partial<OwnWords> = {},
): Promise<Seller> => {
  const db = databaseOf(env, accountId);
  const [[[account], [stored], [product]], [portal]] = await Promise.all([
    db.batch([
      db.select().from(accounts).where(eq(accounts.id, accountId)),
      db
        .select()
        .from(productMails)
        .where(and(eq(productMails.accountId, accountId), eq(productMails.product, code))),
      db
        .select({ name: products.name })
        .from(products)
        .where(and(eq(products.accountId, accountId), eq(products.code, code))),
    ]),
    firstDatabase(env).select().from(portals).where(eq(portals.accountId, accountId)),
  ]);
  const words: Partial<OwnWords> = { ...stored, ...draft };
  const { publicOrigin } = settingsOf(env);
  const hasPortal = portal?.enabled === true && portal.slug !== null && publicOrigin !== null;
  return {
    name: words.fromName ?? portal?.name ?? account?.name ?? account?.email ?? 'Your seller',
    email: account?.email ?? '',
    product: product?.name ?? code,
    intro: words.intro ?? null,
    supportUrl: words.supportUrl ?? null,
    portalUrl: hasPortal ? `${publicOrigin}/portal/${portal.slug}` : null,
  };
};

export interface BuyerMail {
  content: MailContent<'request'>;
  sender: Sender;
}

export const buyerMail = (seller: Seller, keys: BoughtKey[], isTest: boolean): BuyerMail => ({
  content: keysBought(seller, keys, isTest),
  sender: { name: seller.name, replyTo: seller.email || null },
});
