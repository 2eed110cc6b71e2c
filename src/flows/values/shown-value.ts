/**
 * Values as a trace shows them: JSON, without secrets, and not longer than it says.
 *
 * A value under a secret name (`password`, `token`, `authorization` …) is shown as dots, and so is the same text wherever
 * it appears again in this run: a flow passes a password on through pins that are called `value`.
 */
import { HttpConnection } from '../../blocks/http-connection.ts'
import { Secret } from '../../blocks/secret.ts'
import type { JsonValue } from '../../shared/json.ts'
import { isSecretName } from '../../shared/names/secret-names.ts'
import { StoredJson } from '../../storage/stored-json.ts'

const DOTS = '•••'

/** What was too long: how it begins, and how many bytes of JSON it is. */
export type Cut = {
  readonly $cut: string
  readonly bytes: number
}

export interface Shown {
  /** JSON, whole or the beginning of it. */
  readonly text: string
  /** Of the whole; of values that are far too long, so many at least. */
  readonly bytes: number
  readonly whole: boolean
}

/** Longer ones are not counted to their end. */
const MOST_BYTES = 1024 * 1024
const MOST_VALUES = 50_000
const DEEPEST = 100
/** Shorter texts are not told from others that only happen to be the same. */
const SHORTEST_SECRET = 4
/** Longer ones are also found within other texts. */
const SHORTEST_PART = 8
const MOST_SECRETS = 100
/** Beside longer ones no long text is shown: how it begins may be the middle of one. */
const LONGEST_SECRET = 65_536

/** The secrets that came up in one run. */
export class Secrets {
  readonly #texts = new Set<string>()
  readonly #names: ReadonlySet<string>

  /** `names`: further ones under which values are secret. */
  constructor(names: ReadonlySet<string> = new Set()) {
    this.#names = names
  }

  isSecret(name: string): boolean {
    return isSecretName(name) || this.#names.has(name)
  }

  note(value: unknown): void {
    if (typeof value !== 'string' || value.length < SHORTEST_SECRET || value === DOTS) return
    if (this.#texts.size >= MOST_SECRETS) return
    this.#texts.add(value)
    const [, credential] = /^(?:Bearer|Basic|Token) (.+)$/i.exec(value) ?? []
    if (credential !== undefined) this.note(credential)
  }

  /** What was declared to be secret, however short it is. */
  noteWhole(value: string): void {
    if (value !== '' && this.#texts.size < MOST_SECRETS) this.#texts.add(value)
  }

  /** Finds what is secret in a value before anything of it is shown: the text may come before its name does. */
  collect(whole: unknown): void {
    const open: unknown[] = [whole]
    for (let values = 0; open.length > 0 && values < MOST_VALUES; values++) {
      const value = open.pop()
      if (typeof value !== 'object' || value === null) continue
      if (value instanceof StoredJson) {
        if (value.text.length <= MOST_BYTES) open.push(value.value)
      } else if (Array.isArray(value)) for (const item of value) open.push(item)
      else if (isPlain(value))
        for (const [name, inner] of Object.entries(value)) {
          if (this.isSecret(name)) this.note(inner)
          open.push(inner)
        }
    }
  }

  /** How a text begins, up to so many characters. Undefined where that cannot be said. */
  beginning(text: string, most: number): string | undefined {
    const longest = Math.max(0, ...[...this.#texts].map(({ length }) => length))
    if (longest > LONGEST_SECRET) return undefined
    const shown = this.hide(text.slice(0, MOST_BYTES))
    // At its end there may be the first part of one.
    return shown.slice(0, Math.max(0, Math.min(most, shown.length - longest)))
  }

  /** The text, or dots. */
  hide(text: string): string {
    if (this.#texts.size === 0) return text
    if (this.#texts.has(text)) return DOTS
    let shown = text
    for (const secret of this.#texts)
      if (secret.length >= SHORTEST_PART && shown.includes(secret)) shown = shown.replaceAll(secret, DOTS)
    return shown
  }
}

/** The value's JSON, up to so many bytes. Never throws, whatever a block gave. `name`: under which it stands. */
export function showValue(value: unknown, secrets: Secrets, most: number, name = ''): Shown {
  secrets.collect({ [name]: value })
  const writer = new Writer(secrets, most)
  writer.writeNamed(name, value, 0)
  return { text: writer.text, bytes: writer.bytes, whole: writer.bytes <= most }
}

/** As it stands in a trace: the value itself, or a {@link Cut}. */
export function shownJson({ text, bytes, whole }: Shown): JsonValue {
  return whole ? JSON.parse(text) : ({ $cut: text, bytes } satisfies Cut)
}

/** Whether a secret was left out of a shown value. */
export function hasMasked(shown: JsonValue): boolean {
  return JSON.stringify(shown).includes(DOTS)
}

class Writer {
  text = ''
  bytes = 0
  readonly #secrets: Secrets
  readonly #most: number
  #values = 0

  constructor(secrets: Secrets, most: number) {
    this.#secrets = secrets
    this.#most = most
  }

  writeNamed(name: string, value: unknown, depth: number): void {
    const isOpen = value === null || value === '' || typeof value === 'boolean'
    if (isOpen || !this.#secrets.isSecret(name)) this.write(value, depth)
    else this.#put(JSON.stringify(DOTS))
  }

  write(value: unknown, depth: number): void {
    this.#values += 1
    if (value instanceof StoredJson) this.#writeStored(value, depth)
    else if (typeof value === 'string' && value.length > MOST_BYTES) this.#writeLong(value)
    else if (typeof value !== 'object' || value === null || value instanceof Date)
      this.#put(this.#scalar(value))
    else if (depth >= DEEPEST) this.#put('"(deeper)"')
    else if (Array.isArray(value)) this.#writeItems(value, depth)
    else if (isPlain(value)) this.#writeFields(value, depth)
    else if (value instanceof Secret || value instanceof HttpConnection)
      this.#put(JSON.stringify(value.toJSON()))
    else this.#put(JSON.stringify(`(${value.constructor.name})`))
  }

  #scalar(value: unknown): string {
    switch (typeof value) {
      case 'string':
        return JSON.stringify(this.#secrets.hide(value))
      case 'function':
        return '"(evaluated once for each item)"'
      case 'bigint':
      case 'symbol':
        return JSON.stringify(String(value))
      default:
        // Numbers that JSON cannot write, dates that are none, and undefined are null.
        return JSON.stringify(value) ?? 'null'
    }
  }

  /** As JSON, 16 MiB take 0.1 s, and nothing but the beginning is seen. */
  #writeLong(text: string): void {
    const bytes = this.bytes + text.length
    const left = Math.max(0, this.#most - this.bytes)
    this.#put(JSON.stringify(this.#secrets.beginning(text, left) ?? '(a long text)'))
    this.bytes = Math.max(this.bytes, bytes)
  }

  /** Stored text is parsed for its secrets; not if it is so long that nothing of it will be seen anyway. */
  #writeStored(stored: StoredJson, depth: number): void {
    if (stored.text.length <= MOST_BYTES) this.write(stored.value, depth)
    else {
      this.#put('"(a large document)"')
      this.bytes += Buffer.byteLength(stored.text)
    }
  }

  #writeItems(items: readonly unknown[], depth: number): void {
    this.#put('[')
    let first = true
    for (const item of items) {
      if (this.#isEnough()) break
      if (!first) this.#put(',')
      first = false
      this.write(item, depth + 1)
    }
    this.#put(']')
  }

  #writeFields(fields: object, depth: number): void {
    this.#put('{')
    let first = true
    for (const [name, value] of Object.entries(fields)) {
      if (this.#isEnough()) break
      if (value === undefined) continue
      this.#put(`${first ? '' : ','}${JSON.stringify(name)}:`)
      first = false
      this.writeNamed(name, value, depth + 1)
    }
    this.#put('}')
  }

  #isEnough(): boolean {
    if (this.bytes <= MOST_BYTES && this.#values <= MOST_VALUES) return false
    // It is longer than any value that is shown whole, also if what was counted so far is not.
    this.bytes = Math.max(this.bytes, MOST_BYTES)
    return true
  }

  #put(text: string): void {
    const bytes = Buffer.byteLength(text)
    const left = this.#most - this.bytes
    this.bytes += bytes
    if (left >= bytes) this.text += text
    // The last character may be cut in its middle.
    else if (left > 0)
      this.text += Buffer.from(text)
        .toString('utf8', 0, left)
        .replace(/\uFFFD$/, '')
  }
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  // Without a prototype, of Object itself, or of a class that inherits nothing: parameters of a query.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
