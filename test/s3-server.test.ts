import { createHash } from 'node:crypto'
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBucket, openS3Server, type S3Server, type TestBucket } from './s3-server.ts'
import { type SignedRequest, signatureProblem } from './s3-signature.ts'

let server: S3Server
let bucket: TestBucket

beforeAll(async () => {
  server = await openS3Server()
  bucket = await openBucket(server, 'files')
})
afterAll(async () => {
  bucket?.close()
  await server?.close()
})

const Bucket = 'files'

function clientWith(changes: { readonly accessKeyId?: string; readonly secretAccessKey?: string }): S3Client {
  const { endpoint, accessKeyId, secretAccessKey } = server
  const credentials = { accessKeyId, secretAccessKey, ...changes }
  return new S3Client({ endpoint, credentials, region: 'us-east-1', forcePathStyle: true, maxAttempts: 1 })
}

test.each([
  ['a wrong secret', { secretAccessKey: 'wrong' }, 'SignatureDoesNotMatch'],
  ['an unknown key', { accessKeyId: 'stranger' }, 'InvalidAccessKeyId'],
])('%s writes nothing and reads nothing', async (_, changes, name) => {
  const client = clientWith(changes)
  await expect(client.send(new PutObjectCommand({ Bucket, Key: 'a', Body: 'x' }))).rejects.toMatchObject({
    name,
  })
  await expect(client.send(new GetObjectCommand({ Bucket, Key: 'a' }))).rejects.toMatchObject({ name })
  client.destroy()
  expect(await bucket.keys()).toEqual([])
})

test('a request without a signature is refused', async () => {
  const written = await fetch(`${server.endpoint}/files/a`, { method: 'PUT', body: 'x' })
  expect([written.status, await written.text()]).toEqual([403, expect.stringContaining('AccessDenied')])
  expect((await fetch(`${server.endpoint}/files?uploads`)).status).toBe(403)
  expect(await bucket.keys()).toEqual([])
})

/** A request as the client library signs it, taken from the wire. */
async function signedRequest(): Promise<SignedRequest> {
  const client = clientWith({})
  let sent: SignedRequest | undefined
  client.middlewareStack.add(
    (next) => (args) => {
      const request = args.request
      if (typeof request !== 'object' || request === null || !('headers' in request) || !('path' in request))
        throw new TypeError('No HTTP request.')
      sent = {
        method: 'PUT',
        url: `${request.path}?x-id=PutObject`,
        headers: { ...Object(request.headers) },
        body: Buffer.from('x'),
      }
      return next(args)
    },
    { step: 'finalizeRequest', priority: 'low' },
  )
  await client.send(new PutObjectCommand({ Bucket, Key: "a (1)'!*é.txt", Body: 'x' }))
  client.destroy()
  if (!sent) throw new Error('Nothing was sent.')
  return sent
}

test('a changed request does not match its signature; the one that was signed does', async () => {
  const signed = await signedRequest()
  const now = Date.now()
  const problem = (changes: Partial<SignedRequest>, later = 0) =>
    signatureProblem({ ...signed, ...changes }, server, now + later)
  const hash = createHash('sha256').update('y').digest('hex')
  expect(problem({})).toBe(undefined)
  expect(problem({ body: Buffer.from('y') })).toBe('XAmzContentSHA256Mismatch')
  expect(
    problem({ body: Buffer.from('y'), headers: { ...signed.headers, 'x-amz-content-sha256': hash } }),
  ).toBe('SignatureDoesNotMatch')
  expect(problem({ url: signed.url.replace('/files', '/other') })).toBe('SignatureDoesNotMatch')
  expect(problem({ url: `${signed.url}&acl=` })).toBe('SignatureDoesNotMatch')
  expect(problem({ method: 'DELETE' })).toBe('SignatureDoesNotMatch')
  expect(problem({ headers: { ...signed.headers, 'x-amz-acl': 'public-read' } })).toBe('AccessDenied')
  expect(problem({}, 16 * 60_000)).toBe('RequestTimeTooSkewed')
})
