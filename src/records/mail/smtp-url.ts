/**
 * Where mail is handed over: `smtp://user:password@host:587` (STARTTLS) or `smtps://user:password@host:465` (TLS from the
 * first byte). `?tls=required` insists on STARTTLS, `?tls=off` never asks for it. With a password TLS is required unless
 * `tls` says otherwise or the host is this machine.
 */
export interface SmtpServer {
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
