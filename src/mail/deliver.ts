import { domainToASCII } from 'node:url';
import { settingsOf } from '../shared/config/settings.ts';
import type { MailContent } from '../shared/text/mail-content.ts';
import type { Sender } from './letter.ts';
import { renderMail } from './render.ts';

/** Returns what sends email, or null if the service can't. Both the binding and a sender are needed. */
const senderOf = (env: Env) => {
  const { mailFrom } = settingsOf(env);
  // wrangler.toml may lack the binding.
  const binding: SendEmail | undefined = env.EMAIL;
  return mailFrom === null || binding === undefined ? null : { binding, mailFrom };
};

/** Whether the service can send email. */
export const hasMail = (env: Env): boolean => senderOf(env) !== null;

/** The address as a mail server finds it: names of domains have only ASCII there. */
const envelopeAddress = (email: string): string => {
  const at = email.lastIndexOf('@') + 1;
  return email.slice(0, at) + domainToASCII(email.slice(at));
};

/** Sends an email without a limit. */
export const deliver = async (
  env: Env,
  to: string,
  content: MailContent,
  from: Sender = { name: 'Latchkey', replyTo: null },
): Promise<void> => {
  const sender = senderOf(env);
  await sender?.binding.send({
    from: { name: from.name, email: sender.mailFrom },
    to: envelopeAddress(to),
    ...(from.replyTo !== null && { replyTo: envelopeAddress(from.replyTo) }),
    ...renderMail(content),
  });
};
