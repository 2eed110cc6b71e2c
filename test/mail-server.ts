/** An SMTP server on a free port of this machine: takes mails, or answers them as a test says. */
import { text } from 'node:stream/consumers'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { localCertificate } from './local-certificate.ts'

/** A mail that the server has taken. */
export interface TakenMail {
  readonly from: string
  /** Of the envelope. */
  readonly to: readonly string[]
  /** By name in lower case; of several the last. */
  readonly headers: Readonly<Record<string, string>>
  /** Behind the headers, as it was sent. */
  readonly body: string
  /** The body of a mail that is text only, decoded. */
  readonly text: string
  /** Whether it came over TLS. */
  readonly secure: boolean
  /** The user who signed in. */
  readonly user: string | undefined
}

/** What is said at the end of a mail, or to a recipient. `drop` closes the connection, `hang` says nothing. */
export type MailAnswer = number | 'drop' | 'hang'

export interface MailServer {
  readonly port: number
  readonly taken: readonly TakenMail[]
  /** All mails that were sent whole, whatever was answered. */
  readonly arrived: readonly TakenMail[]
  /** Recipients that were named, in order, with those that were refused. */
  readonly named: readonly string[]
  /** What comes next: 250 at first. */
  answer(reply: MailAnswer): void
  /** The code for a recipient from now on. */
  refuse(recipient: string, code: number): void
  close(): Promise<void>
}

const password = 'p@ss:word/of the tests'
/** For the settings: signs in as `quoin`. */
export const mailCredentials = `quoin:${encodeURIComponent(password)}`

export async function openMailServer(
  options: Pick<
    SMTPServerOptions,
    'secure' | 'allowInsecureAuth' | 'authOptional' | 'hideSTARTTLS' | 'disabledCommands'
  > = {},
): Promise<MailServer> {
  const taken: TakenMail[] = []
  const arrived: TakenMail[] = []
  const named: string[] = []
  const refused = new Map<string, number>()
  let next: MailAnswer = 250
  const server = new SMTPServer({
    ...localCertificate,
    authOptional: true,
    ...options,
    // What the tests end in the middle.
    socketTimeout: 60_000,
    closeTimeout: 10,
    onAuth({ username, password: input }, _session, callback) {
      if (username === 'quoin' && input === password) callback(null, { user: username })
      else callback(failure(535, `Not the password of ${username}: ${input}`))
    },
    onRcptTo({ address }, _session, callback) {
      named.push(address)
      const code = refused.get(address) ?? 250
      callback(code < 400 ? null : failure(code, `No mail for ${address}`))
    },
    async onData(stream, session, callback) {
      // A test that ends while its server still sends a mail closes the connection in the middle of it.
      const whole = await text(stream).catch(() => undefined)
      if (whole === undefined) return
      const { mailFrom, rcptTo } = session.envelope
      const mail = {
        from: mailFrom === false ? '' : mailFrom.address,
        to: rcptTo.map(({ address }) => address),
        ...partsOf(whole),
        secure: session.secure,
        user: typeof session.user === 'string' ? session.user : undefined,
      }
      arrived.push(mail)
      if (next === 'hang') return
      if (next === 'drop') return dropAll()
      if (next >= 400) return callback(failure(next, 'Answered as the test says'))
      taken.push(mail)
      callback(null)
    },
  })
  const dropAll = () => {
    for (const connection of server.connections) connection._socket.destroy()
  }
  // A client that ends in the middle of a mail.
  server.on('error', () => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.server.address()
  if (typeof address !== 'object' || address === null) throw new Error('The server has no port.')
  return {
    port: address.port,
    taken,
    arrived,
    named,
    answer(reply) {
      next = reply
    },
    refuse: (recipient, code) => void refused.set(recipient, code),
    async close() {
      dropAll()
      await new Promise<void>((resolve) => server.close(resolve))
    },
  }
}

function failure(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode })
}

function partsOf(whole: string): Pick<TakenMail, 'headers' | 'body' | 'text'> {
  const [head = '', ...rest] = whole.split('\r\n\r\n')
  const lines = head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n')
  const headers = lines.map((line): [string, string] => {
    const at = line.indexOf(':')
    return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()]
  })
  const named = Object.fromEntries(headers)
  const body = rest.join('\r\n\r\n')
  return { headers: named, body, text: decoded(body, named['content-transfer-encoding']).trimEnd() }
}

/** A body of a mail that has several, decoded; empty when there is none of the type. */
export function partOf({ body }: TakenMail, type: string): string {
  const at = body.search(new RegExp(`^content-type: ${type}\\b`, 'im'))
  if (at === -1) return ''
  const [head = '', ...rest] = body.slice(at).split('\r\n\r\n')
  const [content = ''] = rest.join('\r\n\r\n').split(/\r\n--[^\r\n]*_NmP-/)
  const [, encoding] = /^content-transfer-encoding: (\S+)/im.exec(head) ?? []
  return decoded(content, encoding?.toLowerCase()).replaceAll('\r\n', '\n')
}

function decoded(body: string, encoding: string | undefined): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString()
  if (encoding !== 'quoted-printable') return body
  const bytes = body
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_all, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString()
}
