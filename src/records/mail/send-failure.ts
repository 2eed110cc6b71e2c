import { JobRefused } from '../../storage/job.ts'

/** A recipient that the server did not accept, and the code of its reply; 0 if it gave none. */
export interface Refused {
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
export function sendFailure(error: unknown, password: string): Error {
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
