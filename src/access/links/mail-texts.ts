/** What mails to users say, in the languages of pages. `{site}` is the name of the application, `{hours}` how long the link works. */

interface MailText {
  readonly subject: string
  readonly before: string
  readonly button: string
  readonly after: string
}

export type MailTextKey =
  | 'reset'
  | 'invite'
  | 'signup'
  | 'exists'
  | 'factor'
  | 'passkey-added'
  | 'passkey-removed'
  | 'account-linked'
  | 'account-ended'

const en: Readonly<Record<MailTextKey, MailText>> = {
  reset: {
    subject: 'New password for {site}',
    before: 'A new password was requested for your account {username} at {site}.',
    button: 'Set a new password',
    after:
      'The link works once, for {hours}. If you did not request it, ignore this mail: your password stays as it is.',
  },
  invite: {
    subject: '{inviter} invites you to {site}',
    before: '{inviter} invites you to {site}. Your user name is {username}.',
    button: 'Set your password',
    after: 'The link works once, for {hours}. If you did not expect this mail, ignore it.',
  },
  signup: {
    subject: 'Confirm your address for {site}',
    before: 'An account at {site} was requested with this address.',
    button: 'Create the account',
    after:
      'The link works once, for {hours}. If you did not request it, ignore this mail: no account is created.',
  },
  exists: {
    subject: 'Your account at {site}',
    before: 'An account at {site} was requested with this address, and you have one: {username}.',
    button: 'Sign in',
    after: 'If you do not know the password, request a new one on the sign-in page.',
  },
  factor: {
    subject: 'Your second factor at {site} was removed',
    before:
      '{inviter} has removed the second factor of your account {username} at {site}, and ended all your sessions.',
    button: 'Sign in',
    after:
      'If you did not ask for it, tell your administrators. Add a second factor again after you have signed in.',
  },
  'passkey-added': {
    subject: 'A passkey was added to your account at {site}',
    before: 'A passkey was added to your account {username} at {site}. It signs in without a password.',
    button: 'Sign in',
    after:
      'If you did not add it, remove it in your account, change your password and tell your administrators.',
  },
  'passkey-removed': {
    subject: 'A passkey of your account at {site} was removed',
    before: 'A passkey was removed from your account {username} at {site}.',
    button: 'Sign in',
    after: 'If you did not remove it, change your password and tell your administrators.',
  },
  'account-linked': {
    subject: 'An account of {inviter} now signs you in at {site}',
    before: 'An account of {inviter} was linked to your account {username} at {site}, and signs in as you.',
    button: 'Sign in',
    after: 'If it is not yours, end the link in your account, or tell your administrators.',
  },
  'account-ended': {
    subject: 'An account of {inviter} no longer signs you in at {site}',
    before: 'The link of an account of {inviter} with your account {username} at {site} was ended.',
    button: 'Sign in',
    after: 'If you did not ask for it, tell your administrators.',
  },
}

const de: Readonly<Record<MailTextKey, MailText>> = {
  reset: {
    subject: 'Neues Passwort für {site}',
    before: 'Für Ihr Konto {username} bei {site} wurde ein neues Passwort angefordert.',
    button: 'Neues Passwort setzen',
    after:
      'Der Link gilt einmal, {hours} lang. Wenn Sie ihn nicht angefordert haben, können Sie diese Mail ignorieren: Ihr Passwort bleibt, wie es ist.',
  },
  invite: {
    subject: '{inviter} lädt Sie zu {site} ein',
    before: '{inviter} lädt Sie zu {site} ein. Ihr Benutzername ist {username}.',
    button: 'Passwort setzen',
    after:
      'Der Link gilt einmal, {hours} lang. Wenn Sie diese Mail nicht erwartet haben, können Sie sie ignorieren.',
  },
  signup: {
    subject: 'Bestätigen Sie Ihre Adresse für {site}',
    before: 'Mit dieser Adresse wurde ein Konto bei {site} angefordert.',
    button: 'Konto anlegen',
    after:
      'Der Link gilt einmal, {hours} lang. Wenn Sie ihn nicht angefordert haben, können Sie diese Mail ignorieren: Es wird kein Konto angelegt.',
  },
  exists: {
    subject: 'Ihr Konto bei {site}',
    before:
      'Mit dieser Adresse wurde ein Konto bei {site} angefordert, und Sie haben bereits eines: {username}.',
    button: 'Anmelden',
    after: 'Wenn Sie das Passwort nicht kennen, fordern Sie auf der Anmeldeseite ein neues an.',
  },
  factor: {
    subject: 'Ihr zweiter Faktor bei {site} wurde entfernt',
    before:
      '{inviter} hat den zweiten Faktor Ihres Kontos {username} bei {site} entfernt und alle Ihre Sitzungen beendet.',
    button: 'Anmelden',
    after:
      'Wenn Sie nicht darum gebeten haben, melden Sie es der Verwaltung. Richten Sie nach dem Anmelden wieder einen zweiten Faktor ein.',
  },
  'passkey-added': {
    subject: 'Neuer Passkey für Ihr Konto bei {site}',
    before:
      'Zu Ihrem Konto {username} bei {site} wurde ein Passkey hinzugefügt. Mit ihm meldet man sich ohne Passwort an.',
    button: 'Anmelden',
    after:
      'Wenn Sie das nicht waren, entfernen Sie ihn in Ihrem Konto, ändern Sie Ihr Passwort und sagen Sie es Ihrer Administration.',
  },
  'passkey-removed': {
    subject: 'Ein Passkey Ihres Kontos bei {site} wurde entfernt',
    before: 'Von Ihrem Konto {username} bei {site} wurde ein Passkey entfernt.',
    button: 'Anmelden',
    after: 'Wenn Sie das nicht waren, ändern Sie Ihr Passwort und sagen Sie es Ihrer Administration.',
  },
  'account-linked': {
    subject: 'Ein Konto bei {inviter} meldet Sie jetzt bei {site} an',
    before:
      'Ein Konto bei {inviter} wurde mit Ihrem Konto {username} bei {site} verbunden und meldet sich als Sie an.',
    button: 'Anmelden',
    after:
      'Wenn es nicht Ihres ist, beenden Sie die Verbindung in Ihrem Konto oder sagen Sie es Ihrer Administration.',
  },
  'account-ended': {
    subject: 'Ein Konto bei {inviter} meldet Sie nicht mehr bei {site} an',
    before: 'Die Verbindung eines Kontos bei {inviter} mit Ihrem Konto {username} bei {site} wurde beendet.',
    button: 'Anmelden',
    after: 'Wenn Sie nicht darum gebeten haben, sagen Sie es Ihrer Administration.',
  },
}

/** Of mails of pages too: the mail program turns them dark where its user has it so. */
const DARK =
  '@media (prefers-color-scheme:dark){body{background:#0f1514!important}.sheet{background:#18201f!important;border-color:#2c3836!important;color:#e6edeb!important}.soft{color:#9fb0ac!important}}'

export interface WrittenMail {
  readonly subject: string
  readonly text: string
  readonly html: string
}

interface MailAbout {
  readonly url: string
  readonly username: string
  readonly seconds: number
  readonly site: string
  readonly inviter: string
}

/** `language`: a tag such as `de-AT`; English for languages without texts. `seconds`: how long the link works. */
export function writeMail(key: MailTextKey, language: string, input: MailAbout): WrittenMail {
  const tag = language.split('-')[0] === 'de' ? 'de' : 'en'
  const texts = (tag === 'de' ? de : en)[key]
  const values: Readonly<Record<string, string>> = {
    site: input.site,
    inviter: input.inviter,
    username: input.username,
    hours: lasting(input.seconds, tag),
  }
  const fill = (text: string) => text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole)
  const [subject, before, after] = [texts.subject, texts.before, texts.after].map(fill)
  const paragraph = (inner: string) => `<p style="margin:0 0 16px">${inner}</p>`
  const url = escaped(input.url)
  const button = `<a href="${url}" style="display:inline-block;padding:10px 18px;border-radius:6px;background:#0b6a63;color:#ffffff;font-weight:600;text-decoration:none">${escaped(texts.button)}</a>`
  const address = `<p class="soft" style="margin:0;font-size:14px;color:#53625f;overflow-wrap:anywhere">${escaped(tag === 'de' ? 'Oder öffnen Sie diese Adresse:' : 'Or open this address:')}<br>${url}</p>`
  return {
    subject: subject ?? '',
    text: `${before}\n\n${texts.button}:\n${input.url}\n\n${after}\n`,
    html: `<!doctype html><html lang="${tag}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><style>${DARK}</style></head><body style="margin:0;padding:24px 12px;font-family:sans-serif;font-size:16px;line-height:1.5;background:#f5f7f7"><div class="sheet" style="max-width:560px;margin:0 auto;padding:28px;border:1px solid #dce3e1;border-radius:8px;background:#ffffff;color:#16211f">${paragraph(escaped(before ?? ''))}${paragraph(button)}${paragraph(escaped(after ?? ''))}${address}</div></body></html>`,
  }
}

function lasting(seconds: number, tag: string): string {
  const days = Math.round(seconds / 86_400)
  const [unit, count] =
    days >= 2 ? (['day', days] as const) : (['hour', Math.max(1, Math.round(seconds / 3_600))] as const)
  return new Intl.NumberFormat(tag, { style: 'unit', unit, unitDisplay: 'long' }).format(count)
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`)
}
