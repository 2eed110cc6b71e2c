/**
 * An S3 server for tests, in this process and in memory: the package `fauxqs` answers (buckets, objects, ranges, copies,
 * multipart with parts of 5 MiB, lists), and what it leaves out stands here: each request must be signed with the secret, and
 * unfinished uploads can be listed.
 */
import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import {
  CreateBucketCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  S3Client,
} from '@aws-sdk/client-s3'
import { buildApp } from 'fauxqs'
import { signatureProblem } from './s3-signature.ts'

export interface S3Server {
  readonly endpoint: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  close(): Promise<void>
}

/** One that fails when a test says so. */
export interface FailingS3Server extends S3Server {
  /** The next requests get 503. */
  failNext(requests: number): void
  /** The next objects that are read break off after half of their bytes. */
  breakNext(objects: number): void
}

interface Unfinished {
  readonly bucket: string
  readonly key: string
  readonly initiated: string
}

const XML = 'application/xml'

export async function openS3Server(): Promise<FailingS3Server> {
  const accessKeyId = 'key-of-the-tests'
  const secretAccessKey = randomBytes(20).toString('hex')
  const unfinished = new Map<string, Unfinished>()
  const app = buildApp({ logger: false })

  let [failing, breaking] = [0, 0]

  app.addHook('preHandler', async (request, reply) => {
    if (failing > 0) {
      failing -= 1
      return reply.code(503).type(XML).send(errorXml('ServiceUnavailable'))
    }
    const { method, url, headers } = request.raw
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
    const signed = { method: method ?? '', url: url ?? '', headers, body }
    const problem = signatureProblem(signed, { accessKeyId, secretAccessKey }, Date.now())
    if (problem !== undefined) return reply.code(403).type(XML).send(errorXml(problem))
    const { bucket, key, query } = partsOf(request.url)
    if (method === 'GET' && key === '' && query.has('uploads'))
      return reply.type(XML).send(uploadsXml(bucket, query.get('prefix') ?? '', unfinished))
    return undefined
  })
  app.addHook('onSend', async (request, reply, payload) => {
    const { bucket, key, query } = partsOf(request.url)
    const id = query.get('uploadId')
    if (reply.statusCode < 300 && request.method === 'POST' && query.has('uploads')) {
      const made = /<UploadId>([^<]+)/.exec(String(payload))?.[1]
      if (made !== undefined) unfinished.set(made, { bucket, key, initiated: new Date().toISOString() })
    }
    // Completed or aborted; a part of one is a PUT.
    if (reply.statusCode < 300 && id !== null && request.method !== 'PUT') unfinished.delete(id)
    if (breaking > 0 && request.method === 'GET' && key !== '') {
      breaking -= 1
      const bytes = Buffer.isBuffer(payload)
        ? payload
        : await buffer(Readable.from(payload as Iterable<Buffer>))
      reply.hijack()
      reply.raw.writeHead(reply.statusCode, { 'content-length': bytes.length })
      reply.raw.write(bytes.subarray(0, bytes.length / 2), () => reply.raw.destroy())
    }
    return payload
  })
  const endpoint = await app.listen({ host: '127.0.0.1', port: 0 })
  return {
    ...{ endpoint, accessKeyId, secretAccessKey },
    failNext(requests) {
      failing = requests
    },
    breakNext(objects) {
      breaking = objects
    },
    close: () => app.close(),
  }
}

/** What a test does to a bucket past Quoin. */
export interface TestBucket {
  readonly name: string
  readonly client: S3Client
  /** `s3://name?endpoint=…` */
  readonly url: string
  /** Keys of all objects. */
  keys(): Promise<string[]>
  /** How many multipart uploads were begun and neither completed nor aborted. */
  unfinished(): Promise<number>
  close(): void
}

export async function openBucket(server: Omit<S3Server, 'close'>, name: string): Promise<TestBucket> {
  const { endpoint, accessKeyId, secretAccessKey } = server
  const credentials = { accessKeyId, secretAccessKey }
  const client = new S3Client({ endpoint, credentials, region: 'us-east-1', forcePathStyle: true })
  await client.send(new CreateBucketCommand({ Bucket: name }))
  return {
    name,
    client,
    url: `s3://${name}?endpoint=${encodeURIComponent(endpoint)}`,
    async keys() {
      const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: name }))
      return Contents.map(({ Key }) => Key ?? '')
    },
    async unfinished() {
      const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: name }))
      return Uploads.length
    },
    close: () => client.destroy(),
  }
}

function partsOf(url: string): { bucket: string; key: string; query: URLSearchParams } {
  const { pathname, searchParams } = new URL(url, 'http://127.0.0.1')
  const [, bucket = '', ...key] = pathname.split('/').map(decodeURIComponent)
  return { bucket, key: key.join('/'), query: searchParams }
}

function uploadsXml(name: string, prefix: string, unfinished: ReadonlyMap<string, Unfinished>): string {
  const uploads = [...unfinished]
    .filter(([, { bucket, key }]) => bucket === name && key.startsWith(prefix))
    .map(
      ([id, { key, initiated }]) =>
        `<Upload><Key>${escaped(key)}</Key><UploadId>${id}</UploadId><Initiated>${initiated}</Initiated></Upload>`,
    )
  return `<ListMultipartUploadsResult><IsTruncated>false</IsTruncated>${uploads.join('')}</ListMultipartUploadsResult>`
}

function errorXml(code: string): string {
  return `<Error><Code>${code}</Code><Message>The request was refused.</Message></Error>`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
