/**
 * AWS Signature Version 4 as a server checks it, from the request as it was sent and from nothing of the client's library.
 * Of headers, and of addresses (presigned), where the query says what the headers say else.
 */
import { createHash, createHmac } from 'node:crypto'

export interface SignedRequest {
  readonly method: string
  /** As sent, with its query. */
  readonly url: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
}

export interface S3Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/
const MOST_SKEW_MS = 15 * 60_000

/** The code of the error that S3 answers with; undefined when the signature is right. */
export function signatureProblem(
  request: SignedRequest,
  credentials: S3Credentials,
  now: number,
): string | undefined {
  const presigned = new URL(request.url, 'http://host').searchParams.has('X-Amz-Signature')
  return presigned ? addressProblem(request, credentials, now) : headerProblem(request, credentials, now)
}

function headerProblem(
  { method, url, headers, body }: SignedRequest,
  { accessKeyId, secretAccessKey }: S3Credentials,
  now: number,
): string | undefined {
  const header = (name: string) => String(headers[name] ?? '')
  const [, key, date, region, signed, signature] = AUTHORIZATION.exec(header('authorization')) ?? []
  if (key === undefined || date === undefined || region === undefined || signed === undefined)
    return 'AccessDenied'
  if (key !== accessKeyId) return 'InvalidAccessKeyId'
  const time = header('x-amz-date')
  if (!time.startsWith(date) || !(Math.abs(now - timeOf(time)) < MOST_SKEW_MS)) return 'RequestTimeTooSkewed'
  const names = signed.split(';')
  // What is not signed could be changed on the way.
  const needed = ['host', ...Object.keys(headers).filter((name) => name.startsWith('x-amz-'))]
  if (needed.some((name) => !names.includes(name))) return 'AccessDenied'
  const hash = header('x-amz-content-sha256')
  if (hash !== 'UNSIGNED-PAYLOAD' && hash !== sha256(body)) return 'XAmzContentSHA256Mismatch'

  const right = signatureOf({ method, url, header, names, hash, time, date, region, secretAccessKey })
  return right === signature ? undefined : 'SignatureDoesNotMatch'
}

/** A presigned address: only the host is signed besides it. */
function addressProblem(
  { method, url, headers }: SignedRequest,
  { accessKeyId, secretAccessKey }: S3Credentials,
  now: number,
): string | undefined {
  const query = new URL(url, 'http://host').searchParams
  const said = (name: string) => query.get(`X-Amz-${name}`) ?? ''
  const [key, date = '', region = ''] = said('Credential').split('/')
  if (said('Algorithm') !== 'AWS4-HMAC-SHA256' || said('SignedHeaders') !== 'host') return 'AccessDenied'
  if (key !== accessKeyId) return 'InvalidAccessKeyId'
  const [time, seconds] = [said('Date'), Number(said('Expires'))]
  if (!time.startsWith(date) || !(seconds >= 1 && seconds <= 604_800))
    return 'AuthorizationQueryParametersError'
  if (!(now < timeOf(time) + seconds * 1000)) return 'AccessDenied'
  const unsigned = url.replace(/&?X-Amz-Signature=[^&]*/, '')
  const header = (name: string) => String(headers[name] ?? '')
  const requested = { url: unsigned, names: ['host'], hash: 'UNSIGNED-PAYLOAD' }
  const right = signatureOf({ ...requested, method, header, time, date, region, secretAccessKey })
  return right === said('Signature') ? undefined : 'SignatureDoesNotMatch'
}

interface Signed {
  readonly method: string
  readonly url: string
  readonly header: (name: string) => string
  /** Of the headers that are signed. */
  readonly names: readonly string[]
  readonly hash: string
  readonly time: string
  readonly date: string
  readonly region: string
  readonly secretAccessKey: string
}

function signatureOf({
  method,
  url,
  header,
  names,
  hash,
  time,
  date,
  region,
  secretAccessKey,
}: Signed): string {
  const [path = '', query = ''] = url.split('?', 2)
  const sorted = query
    .split('&')
    .filter(Boolean)
    .map((pair) => (pair.includes('=') ? pair : `${pair}=`))
    .sort()
  const lines = names.map((name) => `${name}:${header(name).trim().replace(/ +/g, ' ')}\n`)
  const canonical = [method, path, sorted.join('&'), lines.join(''), names.join(';'), hash].join('\n')
  const scope = `${date}/${region}/s3/aws4_request`
  const text = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n')
  const signingKey = scope.split('/').reduce<Buffer | string>(hmac, `AWS4${secretAccessKey}`)
  return hmac(signingKey, text).toString('hex')
}

function timeOf(time: string): number {
  return Date.parse(time.replace(/^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\dZ)$/, '$1-$2-$3:$4:$5'))
}

function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
