import { appendFile } from 'node:fs/promises';

/** Put your email provider's call here. It may be called twice for a license, if the process ends just after it. */
export const sendKey = async ({ license_key: licenseKey, customer_email: email, product }) => {
  const text = `Thank you for buying ${product}. Your license key: ${licenseKey}`;
  await appendFile('outbox.txt', `To: ${email}\n${text}\n\n`);
};
