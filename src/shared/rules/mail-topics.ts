/** What the owner of an account gets emails about, and may do without. Emails about security are none of these. */
export const MAIL_TOPICS = ['usage', 'limits', 'billing', 'webhooks'] as const;
export type MailTopic = (typeof MAIL_TOPICS)[number];
