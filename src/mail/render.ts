import type { MailContent } from '../shared/text/mail-content.ts';

export interface Mail {
  subject: string;
  text: string;
  html: string;
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

/** A seller may have written several lines. */
const linesHtml = (text: string) => escapeHtml(text).replaceAll(/\r?\n/g, '<br>');

const paragraph = (html: string, style = '') => `<p style="margin:0 0 16px;${style}">${html}</p>`;

const linkHtml = ({ label, url }: { label: string; url: string }) => {
  const href = escapeHtml(url);
  return [
    paragraph(
      `<a href="${href}" style="display:inline-block;padding:12px 20px;border-radius:6px;background:#18181b;color:#ffffff;text-decoration:none;font-weight:600">${escapeHtml(label)}</a>`,
    ),
    paragraph(
      `Or open this address in your browser:<br><a href="${href}" style="color:#3f3f46;word-break:break-all">${href}</a>`,
      'font-size:13px;color:#52525b',
    ),
  ];
};

const factHtml = ([name, value]: [string, string]) => `${escapeHtml(name)}: <b>${escapeHtml(value)}</b>`;

const toHtml = ({ subject, paragraphs, facts, link, note }: MailContent) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light">
<title>${escapeHtml(subject)}</title>
</head>
<body style="margin:0;padding:24px;background:#ffffff;color:#18181b;font:16px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif">
<div style="max-width:480px;margin:0 auto;overflow-wrap:anywhere">
<h1 style="margin:0 0 16px;font-size:20px;line-height:1.3">${escapeHtml(subject)}</h1>
${[
  ...paragraphs.map((text) => paragraph(linesHtml(text))),
  ...(facts ? [paragraph(facts.map(factHtml).join('<br>'))] : []),
  ...(link ? linkHtml(link) : []),
  paragraph(escapeHtml(note), 'font-size:13px;color:#52525b'),
].join('\n')}
</div>
</body>
</html>
`;

const toText = ({ paragraphs, facts, link, note }: MailContent) =>
  [
    ...paragraphs,
    ...(facts ? [facts.map(([name, value]) => `${name}: ${value}`).join('\n')] : []),
    ...(link ? [`${link.label}:\n${link.url}`] : []),
    note,
  ].join('\n\n') + '\n';

export const renderMail = (content: MailContent): Mail => ({
  subject: content.subject,
  text: toText(content),
  html: toHtml(content),
});
