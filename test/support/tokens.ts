import { lastMailTo } from './mails.ts';

/** Returns the token of the link in the last of `count` emails to the address. */
export const tokenTo = async (address: string, count = 1): Promise<string> => {
  const { text } = await lastMailTo(address, count);
  const [, token] = /#token=(lkt_[0-9A-Za-z]{54})$/m.exec(text) ?? [];
  if (!token) throw new Error(`This email has no link with a token: ${text}`);
  return token;
};
