/**
 * Hands waiting mails to the SMTP server of the settings, one connection for each.
 *
 * - The server accepts it → the job is done. It accepts some recipients only → a job for the others takes its place.
 * - 4xx, no connection, no sign-in, a dropped connection → the job fails, and the queue tries it again later.
 * - 5xx for the mail or for all of its recipients → {@link JobRefused}: a dead letter at once, with the server's reply.
 *
 * At least once: a node that dies after the server has taken a mail, and before the job is done, sends it again. Its
 * Message-ID is made of the job's guid, so that the second one is recognised as the same mail.
 */
import { hash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { SendMailOptions } from 'nodemailer'
import { QuoinError } from '../../shared/errors.ts'
import { isJsonObject, type JsonObject } from '../../shared/json.ts'
import { type Mail, type MailAddress, MOST_ATTACHED } from '../../shared/mail/mail.ts'
import type { Telemetry } from '../../shared/telemetry.ts'
import type { Database } from '../../storage/database.ts'
import { backOffOf, type Job, JobRefused } from '../../storage/job.ts'
import { transact } from '../../storage/transact.ts'
import type { Assets } from '../assets/assets.ts'
import { mailIn, mailJob, type WaitingMail } from './mail-job.ts'

export interface MailSettings {
  /** undefined: mails fail until it is set. */
  readonly server: SmtpServer | undefined
  /** Of mails that name no sender. */
  readonly from: MailAddress | undefined
}

/** Gives a mail to its server. Gives the recipients that the server did not accept. */
export type HandOver = (content: SendMailOptions, server: SmtpServer) => Promise<readonly Refused[]>

export interface MailParts {
  readonly settings: MailSettings
  readonly database: Pick<Database, 'session'>
  readonly assets: Pick<Assets, 'get' | 'read'>
  /** Writes the mail of a job of `accountMailJob`; undefined if there is none to send. */
  readonly accountMail: (account: JsonObject) => Promise<Mail | undefined>
  /** By SMTP if not given. */
  readonly handOver?: HandOver | undefined
  /** undefined where no traces are sent. */
  readonly telemetry?: Pick<Telemetry, 'call'> | undefined
}

export type MailJob = Pick<Job, 'guid' | 'payload' | 'attempts'>

/** Milliseconds; an attempt of a job has five minutes. */
const CONNECT = 20_000
const SILENCE = 60_000

/** Sends the mail of one job. Resolves when the server has taken it. */
export async function sendMail(parts: MailParts, job: MailJob, signal: AbortSignal): Promise<void> {
  const { settings, database } = parts
  const { server } = settings
  if (!server)
    throw new Error(
      'Mail is not set up. Set QUOIN_MAIL_URL and QUOIN_MAIL_FROM on every node and start them again.',
    )
  const { account } = job.payload
  const mail = isJsonObject(account) ? await parts.accountMail(account) : undefined
  if (isJsonObject(account) && !mail) return
  const waiting = mail ? { mail, message: undefined, only: undefined } : mailIn(job.payload)
  const message = waiting.message ?? nameOf(waiting.mail) ?? job.guid
  const attachments = await attached(parts.assets, waiting.mail)
  const content = { ...composed(settings, waiting, message), attachments, signal }
  const refused = await handedOver(parts, job, content, server).finally(() => {
    for (const one of attachments) one.content.destroy()
  })
  if (refused.length === 0) return
  const only = refused.map(({ recipient }) => recipient)
  const { user, depth = 0, blueprint, after_failure, trace } = job.payload
  const origin: JsonObject = {
    depth,
    ...(blueprint !== undefined && { blueprint }),
    ...(after_failure !== undefined && { after_failure }),
    ...(user !== undefined && { user }),
    ...(trace !== undefined && { trace }),
  }
  const rest = mailJob(
    waiting.mail,
    origin,
    { attempts: job.attempts, backOff: backOffOf(job) },
    { message, only },
  )
  await transact(database, (session) => session.enqueue(rest))
}

/** Of a mail that is traced with its server, and nothing that is in it. */
async function handedOver(
  parts: MailParts,
  { payload: { trace } }: MailJob,
  content: SendMailOptions,
  server: SmtpServer,
): Promise<readonly Refused[]> {
  const piece = typeof trace === 'string' ? parts.telemetry?.call(trace) : undefined
  const over = (failed: boolean, refused = 0) =>
    piece?.end({
      name: `mail ${server.host}`,
      attributes: {
        ...{ 'server.address': server.host, 'network.protocol.name': 'smtp' },
        ...(refused > 0 && { 'quoin.refused_recipients': refused }),
      },
      failed,
    })
  try {
    const refused = await (parts.handOver ?? handOver)(content, server)
    over(false, refused.length)
    return refused
  } catch (error) {
    over(true)
    throw error
  }
}

/** The same for all mails with one key. */
function nameOf({ key }: Mail): string | undefined {
  return key === undefined ? undefined : hash('sha256', key).slice(0, 32)
}

/** The client, 2 MB of code, is only loaded here. Gives the recipients that the server did not accept. */
async function handOver(content: SendMailOptions, server: SmtpServer): Promise<readonly Refused[]> {
  const { createTransport } = await import('nodemailer')
  const { host, port, secure, startTls, user, password } = server
  const transport = createTransport({
    ...{ host, port, secure, requireTLS: startTls === 'required', ignoreTLS: startTls === 'off' },
    ...(user !== undefined && { auth: { user, pass: password } }),
    ...{ connectionTimeout: CONNECT, greetingTimeout: CONNECT, socketTimeout: SILENCE, dnsTimeout: CONNECT },
    ...{ disableFileAccess: true, disableUrlAccess: true, maxResponseSize: 65_536 },
  })
  try {
    const { rejected, rejectedErrors = [] } = await transport.sendMail(content)
    return rejected.map((recipient, at) => ({
      recipient: recipient,
      code: rejectedErrors[at]?.responseCode ?? 0,
    }))
  } catch (error) {
    throw sendFailure(error, password)
  } finally {
    transport.close()
  }
}

function composed({ from: usual }: MailSettings, { mail, only }: WaitingMail, message: string) {
  const from = mail.from ?? usual
  if (!from)
    throw new Error(
      'Mail has no sender. Set QUOIN_MAIL_FROM in the studio under Operate → Settings, or on every node.',
    )
  const { to, cc, bcc, replyTo, subject, text, html } = mail
  const all = [...to, ...cc, ...bcc].map(({ address }) => address)
  return {
    ...{ from, to: [...to], cc: [...cc], subject },
    ...(replyTo && { replyTo }),
    ...(text !== undefined && { text }),
    ...(html !== undefined && { html }),
    // bcc is in the envelope only.
    envelope: { from: from.address, to: only ? [...only] : all },
    messageId: `<${message}@${from.address.slice(from.address.lastIndexOf('@') + 1)}>`,
    // Tells other programs not to reply by themselves.
    headers: { 'Auto-Submitted': 'auto-generated' },
  }
}

async function attached(assets: MailParts['assets'], { attachments }: Mail) {
  let bytes = 0
  const files = []
  for (const { asset, name } of attachments) {
    const record = await assets.get(asset).catch((error: unknown) => {
      const gone = error instanceof QuoinError && error.code === 'NOT_FOUND'
      throw gone ? new JobRefused(`The attachment ${name} is deleted: asset ${asset}.`) : error
    })
    bytes += Number(record.size)
    files.push({ filename: name, contentType: String(record.type), content: bytesOf(assets, record) })
  }
  if (bytes > MOST_ATTACHED)
    throw new JobRefused(`The attachments have ${bytes} bytes together; at most ${MOST_ATTACHED} are sent.`)
  return files
}

/** Opened when it is first read, so that an error always has a listener: without one it ends the process. */
function bytesOf(assets: MailParts['assets'], record: JsonObject): Readable {
  const read = async function* (): AsyncGenerator<Buffer> {
    yield* assets.read(record)
  }
  return Readable.from(read(), { objectMode: false })
}

/** A recipient that the server did not accept, and the code of its reply; 0 if it gave none. */
interface Refused {
  readonly recipient: string
  readonly code: number
}

/** What the client throws: its own code, and that of the server's reply. */
interface ClientError {
  readonly code?: unknown
  readonly responseCode?: unknown
  readonly rejectedErrors?: readonly { readonly responseCode?: unknown }[]
}

/**
 * Why a mail was not sent: {@link JobRefused} when the server will say the same again. A refused sign-in or greeting is
 * about the settings or the server, not about the mail, so it is tried again.
 */
function sendFailure(error: unknown, password: string): Error {
  const message = withoutPassword(error instanceof Error ? error.message : String(error), password)
  const said: ClientError = typeof error === 'object' && error !== null ? error : {}
  return isPermanent(said)
    ? new JobRefused(`The mail server refused the mail: ${message}`, { cause: error })
    : new Error(`The mail was not sent: ${message}`, { cause: error })
}

function isPermanent({ code, responseCode, rejectedErrors = [] }: ClientError): boolean {
  if (code !== 'EENVELOPE' && code !== 'EMESSAGE') return false
  // One that is refused for now may be accepted later, and then the others get a job of their own.
  if (rejectedErrors.length > 0) return rejectedErrors.every((one) => isRefusal(one.responseCode))
  return isRefusal(responseCode)
}

function isRefusal(code: unknown): boolean {
  return typeof code === 'number' && code >= 500 && code <= 599
}

/** A server may repeat what it was sent, as it is or in Base64. */
function withoutPassword(message: string, password: string): string {
  if (password === '') return message
  return message.replaceAll(password, '…').replaceAll(Buffer.from(password).toString('base64'), '…')
}

/**
 * Where mail is handed over: `smtp://user:password@host:587` (STARTTLS) or `smtps://user:password@host:465` (TLS from the
 * first byte). `?tls=required` insists on STARTTLS, `?tls=off` never asks for it. With a password TLS is required unless
 * `tls` says otherwise or the host is this machine.
 */
interface SmtpServer {
  readonly host: string
  readonly port: number
  /** TLS from the first byte. */
  readonly secure: boolean
  readonly startTls: 'required' | 'offered' | 'off'
  readonly user: string | undefined
  readonly password: string
}

/** Throws an Error with words that finish "QUOIN_MAIL_URL …"; they never repeat what could be a secret. */
export function parseSmtpUrl(text: string): SmtpServer {
  const url = URL.parse(text)
  if (url === null || !['smtp:', 'smtps:'].includes(url.protocol) || url.hostname === '')
    throw new Error('must be smtp://user:password@host:port or smtps://…')
  if (!['', '/'].includes(url.pathname) || url.hash !== '') throw new Error('must end with the port')
  for (const name of url.searchParams.keys())
    if (name !== 'tls') throw new Error('has a parameter that is not tls')
  const secure = url.protocol === 'smtps:'
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const port = url.port === '' ? (secure ? 465 : 587) : Number(url.port)
  const user = url.username === '' ? undefined : decodeURIComponent(url.username)
  const password = decodeURIComponent(url.password)
  return { host, port, secure, startTls: startTlsOf(url, host, user !== undefined), user, password }
}

function startTlsOf(url: URL, host: string, signsIn: boolean): SmtpServer['startTls'] {
  const [said, second] = url.searchParams.getAll('tls')
  if (second !== undefined || (said !== undefined && !['required', 'off'].includes(said)))
    throw new Error('has a tls that is neither required nor off')
  if (said === 'off') return 'off'
  const local = /^(localhost|127(\.\d{1,3}){3}|::1)$/.test(host)
  return said === 'required' || (signsIn && !local) ? 'required' : 'offered'
}
