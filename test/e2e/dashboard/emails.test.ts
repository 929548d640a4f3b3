import { expect, test } from 'vitest';
import * as accountTemplates from '../../../src/mail/account-templates.ts';
import { renderMail } from '../../../src/mail/render.ts';
import * as templates from '../../../src/mail/templates.ts';
import * as twoFactorTemplates from '../../../src/mail/two-factor-templates.ts';
import { keysBought } from '../../../src/purchases/mail-content.ts';
import { axeViolations } from '../support/browser.ts';
import { service, visit } from '../support/dashboard.ts';

const { origin } = service;
const token = `lkt_${'W'.repeat(43)}`;
const url = templates.tokenUrl(origin, 'verify-email', token);
const address = `${'wide'.repeat(12)}@${'wide'.repeat(15)}.example.com`;

const SELLER = {
  name: 'Orrery & Sons',
  email: address,
  product: 'Orrery Studio',
  intro: null,
  supportUrl: null,
  portalUrl: `${origin}/portal/${'orrery'.repeat(8)}`,
};

const EMAILS = {
  keysBought: keysBought(SELLER, [{ product: 'studio', licenseKey: '7K3QD-9WZXA-M2RTB-H5NVE-40GPW' }], false),
  verifyEmail: templates.verifyEmail(url),
  unverifiedEnding: accountTemplates.unverifiedEnding(origin, 0),
  resetPassword: templates.resetPassword(templates.tokenUrl(origin, 'reset-password', token)),
  confirmEmail: templates.confirmEmail(url),
  emailChangeRequested: templates.emailChangeRequested(origin, address),
  emailChanged: templates.emailChanged(address, templates.tokenUrl(origin, 'restore-email', token)),
  emailChangedUnproved: templates.emailChanged(address, null),
  emailRestored: templates.emailRestored(templates.tokenUrl(origin, 'reset-password', token)),
  emailTakenBack: templates.emailTakenBack(address),
  passwordChanged: templates.passwordChanged(origin),
  newSignIn: templates.newSignIn(origin, { ip: '2001:db8:0:7', userAgent: null }, 0),
  twoFactorOn: twoFactorTemplates.twoFactorChanged(origin, true),
  twoFactorOff: twoFactorTemplates.twoFactorChanged(origin, false),
  emailChangeByOperator: templates.emailChangeByOperator(origin, 'grace@example.com', 0),
  twoFactorResetRequested: twoFactorTemplates.twoFactorResetRequested(origin, 0),
  recoveryCodesReplaced: twoFactorTemplates.recoveryCodesReplaced(origin),
  wrongCodes: twoFactorTemplates.wrongCodes(origin, '2001:db8:0:7', 0),
  wrongProofs: templates.wrongProofs(origin, { ip: null, key: null }, 0),
  erasureRequested: accountTemplates.erasureRequested(origin, 0),
  accountErased: accountTemplates.accountErased(),
  severalNotices: templates.severalNotices([
    { content: templates.newSignIn(origin, { ip: '2001:db8:0:7', userAgent: null }, 0), times: 12 },
    { content: templates.emailChangeRequested(origin, address), times: 1 },
  ]),
};

test('every email fits a phone, loads nothing, and links only to the service', async () => {
  const { page, consoleErrors } = await visit({ width: 375 });
  const requests: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  for (const [name, content] of Object.entries(EMAILS)) {
    const { subject, text, html } = renderMail(content);
    await page.setContent(html);
    expect([name, await page.title()]).toEqual([name, subject]);
    expect([name, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([name, 375]);
    const violations = await axeViolations(page);
    // An email has no landmarks.
    expect([name, violations.filter((text) => !/^(?:landmark-one-main|region):/.test(text))]).toEqual([
      name,
      [],
    ]);
    const links = await page.locator('a').evaluateAll((all) => all.map((link) => link.getAttribute('href')));
    const [linked] = /https?:\/\/\S+/.exec(text) ?? [];
    expect([name, links]).toEqual([name, linked === undefined ? [] : [linked, linked]]);
    for (const link of links) expect([name, new URL(link ?? '').origin]).toEqual([name, origin]);
  }
  expect([requests, consoleErrors]).toEqual([[], []]);
});
