import { parseSmtpUrl } from '../records/mail/send-mail.ts'
import { mailAddress } from '../shared/mail/mail.ts'
import { isOneLine } from '../shared/texts/one-line.ts'
import { accepted, type OptionGroup, type ReadGroup, type ReadOne } from './option-kinds.ts'

/** Without a slash at its end; undefined for what is no address of a whole site. */
function siteAddress(input: string): string | undefined {
  const url = URL.parse(input)
  const whole =
    url !== null && /^https?:$/.test(url.protocol) && url.pathname === '/' && url.search + url.hash === ''
  return whole && url.username + url.password === '' ? url.origin : undefined
}

/** Mail, and the address that its links lead to. */
export const mailOptions = {
  mailUrl: {
    variable: 'QUOIN_MAIL_URL',
    fallback: '',
    help: 'SMTP server that mail is handed over to. With a password TLS is required. Empty: mail waits in its queue and fails.',
    accepts: 'empty, or smtp://user:password@host:port or smtps://…, with ?tls=required or ?tls=off',
    secret: true,
    read: (input: string) => (input === '' ? '' : accepted(input, () => parseSmtpUrl(input))),
  },
  mailFrom: {
    variable: 'QUOIN_MAIL_FROM',
    fallback: '',
    help: 'Sender of mail where a block names none. Without it such mails fail.',
    changeable: true,
    ofSpace: true,
    accepts: 'empty, or an address such as Shop <shop@example.com>',
    read: (input: string) => (input === '' || mailAddress(input) !== undefined ? input : undefined),
  },
  publicUrl: {
    variable: 'QUOIN_PUBLIC_URL',
    fallback: '',
    help: 'Address at which users reach Quoin, for links in mail and of waits. Empty: no password reset, invitation or sign-up by mail.',
    accepts: 'empty, or an address such as https://shop.example.com',
    read: (input: string) => (input === '' ? '' : siteAddress(input)),
  },
  siteName: {
    variable: 'QUOIN_SITE_NAME',
    fallback: '',
    help: 'Name of the application, in mails to users, on the start page and at the top of pages without a template. Empty: the host of QUOIN_PUBLIC_URL.',
    accepts: 'empty, or one line of at most 80 characters',
    read: (input: string) => (input.length <= 80 && isOneLine(input) ? input.trim() : undefined),
  },
} as const satisfies OptionGroup

export function readMailOptions(read: ReadOne): ReadGroup<typeof mailOptions> {
  return {
    mailUrl: read(mailOptions.mailUrl),
    mailFrom: read(mailOptions.mailFrom),
    publicUrl: read(mailOptions.publicUrl),
    siteName: read(mailOptions.siteName),
  }
}
