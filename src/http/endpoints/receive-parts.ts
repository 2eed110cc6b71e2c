/**
 * The parts of a multipart/form-data body. Files go straight to where received files wait; texts are bounded as a JSON body is.
 * What is refused, cut off or not valid leaves nothing behind.
 */
import { EventEmitter } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy'
import { invalidField, QuoinError } from '../../shared/errors.ts'
import type { JsonValue } from '../../shared/json.ts'
import type { AssetFiles, ReceivedFile } from '../../storage/assets/asset-files.ts'
import { FORBIDDEN } from '../bodies/form-body.ts'
import { readJsonBody } from '../bodies/json-body.ts'

export interface PartBounds {
  /** Bytes of one file. */
  readonly fileBytes: number
  readonly files: number
  /** Bytes of all texts together. */
  readonly textBytes: number
}

/** A file as it was sent. */
export interface SentFile {
  readonly field: string
  readonly name: string
  readonly type: string
  readonly file: ReceivedFile
}

export interface SentParts {
  /** Texts, and values of JSON parts, in the order in which they were sent. */
  readonly fields: readonly (readonly [name: string, value: JsonValue])[]
  readonly files: readonly SentFile[]
}

const JSON_TYPE = /^application\/(?:[a-z0-9.-]+\+)?json(?:[\t ]*;|$)/i
/** How browsers name a part that a script gives them as a value with a type, and without a name. */
const UNNAMED = 'blob'
/** Of one body. */
const MOST_FIELDS = 1_000
const LONGEST_NAME = 300
/** Boundaries and headers of parts. */
const AROUND = 1024 * 1024

/** Throws INVALID_BODY, and FILE_TOO_BIG, before anything is read where the length says so. */
export function receiveParts(
  source: IncomingMessage,
  files: AssetFiles,
  bounds: PartBounds,
): Promise<SentParts> {
  const most = bounds.files * bounds.fileBytes + bounds.textBytes + AROUND
  if (Number(source.headers['content-length'] ?? 0) > most)
    throw new QuoinError('FILE_TOO_BIG', `The body is larger than ${most} bytes. Nothing was stored.`)
  return new PartsReader(source, files, bounds).read()
}

class PartsReader {
  readonly #source: IncomingMessage
  readonly #store: AssetFiles
  readonly #bounds: PartBounds
  readonly #fields: [string, JsonValue][] = []
  /** JSON parts. */
  readonly #values: Promise<void>[] = []
  /** Those that wait: to be let go of when a later part is refused. */
  readonly #files: SentFile[] = []
  readonly #receiving = new Map<BusboyFileStream, Promise<SentFile>>()
  #bytes = 0
  #stop: (error: unknown) => void = () => undefined

  constructor(source: IncomingMessage, store: AssetFiles, bounds: PartBounds) {
    this.#source = source
    this.#store = store
    this.#bounds = bounds
  }

  async read(): Promise<SentParts> {
    const parser = this.#parser()
    const source = this.#source
    try {
      await new Promise<void>((resolve, reject) => {
        this.#stop = reject
        this.#listen(parser, resolve)
        source.on('error', () => reject(notWhole()))
        source.on('close', () => source.complete || reject(notWhole()))
        source.pipe(parser)
      })
      // In the order in which they were sent: a small one may be stored before a large one in front of it.
      await Promise.all(this.#values)
      return { fields: this.#fields, files: await Promise.all(this.#receiving.values()) }
    } catch (error) {
      source.unpipe(parser)
      // Most clients read the reply only when they have sent all.
      source.resume()
      for (const stream of this.#receiving.keys()) stream.destroy(notWhole())
      await Promise.allSettled(this.#receiving.values())
      for (const { file } of this.#files) await this.#store.discard(file)
      throw error
    }
  }

  #parser(): BusboyInstance {
    const { fileBytes, textBytes } = this.#bounds
    const limits = {
      ...{ fileSize: fileBytes, fields: MOST_FIELDS, parts: 2 * MOST_FIELDS },
      ...{ fieldNameSize: LONGEST_NAME, fieldSize: textBytes, headerPairs: 20 },
    }
    try {
      const type = this.#source.headers['content-type'] ?? ''
      const parser = new Busboy({ headers: { ...this.#source.headers, 'content-type': type }, limits })
      preferEncodedNames(parser)
      return parser
    } catch (error) {
      throw notWhole(error)
    }
  }

  #listen(parser: BusboyInstance, done: () => void): void {
    const { files } = this.#bounds
    const refuse = (problem: string) =>
      this.#stop(new QuoinError('INVALID_BODY', `The form contains ${problem}. Nothing was stored.`))
    parser
      .on('field', (name, value, nameCut, valueCut, _encoding, type) => {
        this.#bytes += Buffer.byteLength(value)
        if (nameCut || valueCut || this.#bytes > this.#bounds.textBytes) return refuse('too much text')
        const problem = nameProblem(name) ?? textProblem(value)
        if (problem !== undefined) return refuse(problem)
        if (JSON_TYPE.test(type)) this.#await(this.#addJson(name, Buffer.from(value)))
        else this.#fields.push([name, value])
      })
      .on('file', (name, stream, fileName, _encoding, type) => {
        // The parser and we may end it when nothing reads it any more; an error without a listener ends the process.
        stream.on('error', () => undefined)
        // What a browser sends for a file input in which nothing was chosen.
        if (!fileName) {
          stream.resume()
          return
        }
        if (fileName === UNNAMED && JSON_TYPE.test(type)) {
          const problem = nameProblem(name)
          if (problem !== undefined) refuse(problem)
          this.#await(this.#readJson(name, stream))
          return
        }
        if (this.#receiving.size >= files) {
          stream.resume()
          refuse(`more than ${files} ${files === 1 ? 'file' : 'files'}`)
          return
        }
        const problem = nameProblem(name) ?? textProblem(fileName)
        const received = this.#receive(stream, { field: name, name: fileName, type })
        // It may fail while JSON parts are still being read, and nothing listens to it yet.
        received.catch(() => undefined)
        this.#receiving.set(stream, received)
        if (problem !== undefined) refuse(problem)
      })
      .on('fieldsLimit', () => refuse(`more than ${MOST_FIELDS} fields`))
      .on('partsLimit', () => refuse('too many parts'))
      .on('error', (error) => this.#stop(notWhole(error)))
      .on('finish', done)
  }

  async #readJson(name: string, stream: BusboyFileStream): Promise<void> {
    const pieces: Buffer[] = []
    for await (const piece of stream) {
      this.#bytes += piece.length
      if (this.#bytes > this.#bounds.textBytes)
        throw new QuoinError('INVALID_BODY', 'The form contains too much text. Nothing was stored.')
      pieces.push(Buffer.from(piece))
    }
    if (stream.truncated) throw tooBig(name, this.#bounds.fileBytes)
    await this.#addJson(name, Buffer.concat(pieces))
  }

  /** In its place among the fields, also if it is read in turns. */
  async #addJson(name: string, bytes: Buffer): Promise<void> {
    const field: [string, JsonValue] = [name, null]
    this.#fields.push(field)
    try {
      field[1] = (await readJsonBody(bytes)) ?? null
    } catch (error) {
      if (!(error instanceof QuoinError)) throw error
      throw invalidField(name, `The part ${name} of the form: ${error.message} Nothing was stored.`)
    }
  }

  #await(read: Promise<void>): void {
    read.catch((error: unknown) => this.#stop(error))
    this.#values.push(read)
  }

  async #receive(stream: BusboyFileStream, sent: Omit<SentFile, 'file'>): Promise<SentFile> {
    try {
      const file = await this.#store.receive(stream)
      const received = { ...sent, file }
      this.#files.push(received)
      if (stream.truncated) throw tooBig(sent.field, this.#bounds.fileBytes)
      return received
    } catch (error) {
      this.#stop(error)
      throw error
    }
  }
}

const ENCODED_NAME = /;\s*filename\*\s*=/i
const PLAIN_NAME = /;\s*filename\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^;"]*)/i

/**
 * `filename*` goes first, as RFC 6266 has it: `filename="gr__e.txt"; filename*=UTF-8''gr%C3%B6%C3%9Fe.txt`. The parser takes the one that it finds
 * first or last, and has no setting for it, so the other one is taken out of the header before it reads that.
 */
function preferEncodedNames(parser: BusboyInstance): void {
  const form: unknown = Reflect.get(parser, '_parser')
  const parts: unknown = typeof form === 'object' && form !== null ? Reflect.get(form, 'parser') : undefined
  if (!(parts instanceof EventEmitter)) return
  parts.prependListener('part', (part: EventEmitter) =>
    part.prependListener('header', (headers: Record<string, string[]>) => {
      const disposition = headers['content-disposition']
      if (disposition?.[0] === undefined || !ENCODED_NAME.test(disposition[0])) return
      disposition[0] = disposition[0].replace(PLAIN_NAME, '')
    }),
  )
}

function nameProblem(name: string): string | undefined {
  if (name === undefined || name === '') return 'a part without a name'
  return FORBIDDEN.has(name) ? `a field named ${name}` : textProblem(name)
}

function textProblem(text: string): string | undefined {
  return text.isWellFormed() && !text.includes('\u0000') ? undefined : 'text that cannot be stored'
}

function tooBig(field: string, bytes: number): QuoinError {
  const message = `The file ${JSON.stringify(field)} is larger than ${bytes} bytes. Nothing was stored.`
  return new QuoinError('FILE_TOO_BIG', message, { fields: [field] })
}

function notWhole(cause?: unknown): QuoinError {
  return new QuoinError('INVALID_BODY', 'The form is cut off or not valid multipart/form-data.', { cause })
}
