import { isJsonObject, type JsonValue } from '../../shared/json.ts'
import {
  type MailAddress,
  type MailAttachment,
  MOST_ATTACHED,
  MOST_ATTACHMENTS,
  MOST_RECIPIENTS,
  mailAddress,
} from '../../shared/mail/mail.ts'
import { andThen } from '../../shared/maybe-promise.ts'
import type { PageContent } from '../../shared/pages/page-content.ts'
import { isOneLine, ONE_LINE } from '../../shared/texts/one-line.ts'
import type { Session } from '../../storage/database.ts'
import { guidOf, textIn } from '../../storage/document-fields.ts'
import { assetNamed, assetRecord } from '../asset-record.ts'
import { defineFlow, LineError, PinError } from '../block.ts'
import type { FlowContext } from '../context.ts'
import { jobRetriesIn, jobRetryPins } from '../job-retries.ts'
import { mailBodies } from './mail-content.ts'

/** Of text and html together. A job holds 1 MiB; JSON may write a character in six. */
const LONGEST_BODY = 150_000
const LONGEST_KEY = 300
/** With the usual pauses, about a day. */
const USUAL_ATTEMPTS = 40

export default defineFlow({
  identifier: 'send_mail',
  title: 'Send mail',
  words: 'Mail to {to}[: {subject}]',
  summary:
    'Puts a mail into the queue and continues at once. The mail commits together with the writes of the run: both or neither. The queue retries, for about a day if attempts and back_off are empty; a mail that the server refuses becomes a dead letter. After a crash a mail may arrive twice, with the same Message-ID.',
  effects: { sends: ['mail'] },
  in: {
    to: {
      type: 'any',
      required: true,
      help: `Recipients: addresses separated by commas, or a list. At most ${MOST_RECIPIENTS} with cc and bcc.`,
    },
    cc: { type: 'any', help: 'Further recipients, whom all recipients see.' },
    bcc: { type: 'any', help: 'Further recipients, whom no recipient sees.' },
    reply_to: { type: 'value', help: 'Address that replies go to.' },
    from: { type: 'value', help: 'Sender. QUOIN_MAIL_FROM if empty. The mail server may refuse others.' },
    subject: { type: 'value', required: true, help: 'Subject: one line.' },
    text: {
      type: 'value',
      orPin: ['html', 'state'],
      help: 'The mail as plain text. Empty with state: made of its blocks.',
    },
    html: {
      type: 'value',
      orPin: ['text', 'state'],
      help: 'The mail as HTML. Escape values that users typed. Not with state.',
    },
    state: {
      type: 'state',
      help: 'The mail as blocks of a page: headings, texts, lists, tables, images, buttons of the kind link. They become HTML with every value escaped, and the plain text. Forms and inputs cannot be sent. At most 256 KiB; Gmail cuts a mail at 102 KB. Links to pages need QUOIN_PUBLIC_URL.',
    },
    attachments: {
      type: 'any',
      help: 'Assets to attach, by guid or name, or objects with guid and name: one or a list, 20 MiB together.',
    },
    key: {
      type: 'value',
      help: 'Names the mail, for flows that may run twice for one cause, such as events. While a mail with the key waits, no second one is stored; later ones have the same Message-ID.',
    },
    attempts: {
      ...jobRetryPins.attempts,
      default: USUAL_ATTEMPTS,
      help: 'Maximum number of attempts before the mail becomes a dead letter. A mail that the server refuses is tried once.',
    },
    back_off: jobRetryPins.back_off,
  },
  out: { job: { type: 'value', help: 'The guid of the job. Empty when a mail with the same key waits.' } },
  settings: {},
  async run(inputs, context) {
    const key = inputs.key?.trim() ?? ''
    if (key.length > LONGEST_KEY) throw new PinError('key', `must be at most ${LONGEST_KEY} characters`)
    const subject = subjectIn(inputs.subject)
    const { text, html } = await bodiesIn(inputs, subject, context)
    const mail = {
      ...(inputs.from !== undefined && { from: addressIn('from', inputs.from) }),
      to: addressesIn('to', inputs.to),
      cc: addressesIn('cc', inputs.cc),
      bcc: addressesIn('bcc', inputs.bcc),
      ...(inputs.reply_to !== undefined && { replyTo: addressIn('reply_to', inputs.reply_to) }),
      subject,
      ...(text !== undefined && { text: text.toWellFormed() }),
      ...(html !== undefined && { html: html.toWellFormed() }),
      ...(key !== '' && { key }),
      attachments: await attachmentsIn(inputs.attachments, context.session),
    }
    if (mail.to.length === 0) throw new PinError('to', 'is empty')
    if (mail.to.length + mail.cc.length + mail.bcc.length > MOST_RECIPIENTS)
      throw new PinError('to', `must be at most ${MOST_RECIPIENTS} recipients, cc and bcc included`)
    return andThen(context.mailLater(mail, jobRetriesIn(inputs, USUAL_ATTEMPTS)), (job) => ({ job }))
  },
})

interface Written {
  readonly text?: string | undefined
  readonly html?: string | undefined
  readonly state?: PageContent | undefined
}

/** Throws PinError. */
async function bodiesIn(
  { text, html, state }: Written,
  subject: string,
  context: FlowContext,
): Promise<{ readonly text: string | undefined; readonly html: string | undefined }> {
  if (!text && !html && !state) throw new PinError('text', 'is empty, and html and state too')
  if (html && state) throw new PinError('html', 'is set, and state too: use one of them')
  if ((text?.length ?? 0) + (html?.length ?? 0) > LONGEST_BODY)
    throw new PinError(
      text === undefined ? 'html' : 'text',
      `must be at most ${LONGEST_BODY} characters with the other one; attach longer content`,
    )
  if (!state) return { text, html }
  return mailBodies(state, { subject, text: text || undefined }, context)
}

/** A text of addresses separated by commas, or a list of addresses. Empty for none. */
function addressesIn(pin: string, value: JsonValue | undefined): readonly MailAddress[] {
  if (value === undefined || value === null) return []
  const texts = Array.isArray(value) ? value : typeof value === 'string' ? splitAddresses(value) : [value]
  if (texts.length > MOST_RECIPIENTS) throw new PinError(pin, `must be at most ${MOST_RECIPIENTS} addresses`)
  return texts.map((text) => addressIn(pin, text))
}

function addressIn(pin: string, text: JsonValue): MailAddress {
  const address = typeof text === 'string' ? mailAddress(text) : undefined
  if (typeof text === 'string' && !isOneLine(text.trim())) throw new LineError(pin, ONE_LINE)
  if (!address)
    throw new PinError(pin, 'must be an e-mail address such as ann@example.com or Ann <ann@example.com>')
  return address
}

/** A comma within quotes is part of a name. */
function splitAddresses(text: string): readonly string[] {
  if (text.length > 20_000) return [text]
  return (text.match(/(?:"[^"]*"|[^,"])+/g) ?? []).filter((one) => one.trim() !== '')
}

/** One line. Line breaks are refused, because they would begin further headers. */
function subjectIn(written: string): string {
  if (written.length > 500) throw new PinError('subject', 'must be at most 500 characters')
  if (!isOneLine(written)) throw new LineError('subject', ONE_LINE)
  return written.toWellFormed()
}

const LONGEST_NAME = 255

/** Assets by guid, name or `{ guid, name }`: one of them, or a list. They are looked up now and read when the mail is sent. */
async function attachmentsIn(
  value: JsonValue | undefined,
  session: Session,
): Promise<readonly MailAttachment[]> {
  if (value === undefined || value === null || value === '') return []
  const input = Array.isArray(value) ? value : [value]
  if (input.length > MOST_ATTACHMENTS)
    throw new PinError('attachments', `must be at most ${MOST_ATTACHMENTS} assets`)
  const found: MailAttachment[] = []
  let bytes = 0
  for (const one of input) {
    const record = await assetRecord('attachments', assetNamed('attachments', one), session)
    bytes += Number(record.size)
    found.push({ asset: guidOf(record), name: nameIn(one) ?? textIn(record.name) })
  }
  if (bytes > MOST_ATTACHED)
    throw new PinError('attachments', `must have at most ${MOST_ATTACHED} bytes together; they have ${bytes}`)
  return found
}

/** The name that the recipient sees. */
function nameIn(one: JsonValue): string | undefined {
  const name = isJsonObject(one) ? one.name : undefined
  if (name === undefined || name === null || name === '') return undefined
  if (typeof name === 'string' && !isOneLine(name))
    throw new LineError('attachments', `must have names that are one line`)
  if (typeof name !== 'string' || name.length > LONGEST_NAME || /[\p{C}/\\]/u.test(name))
    throw new PinError('attachments', `must have names of 1 to ${LONGEST_NAME} characters without slashes`)
  return name
}
