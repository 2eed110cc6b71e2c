const WORDS = 4
/** Each grows by itself, at a thousand of a million guids: one table of all would be made again in 50 ms. */
const TABLES = 1_024
const LEAST = 16
/** Where the dashes are. */
const DASHES = new Set([8, 13, 18, 23])
const LENGTH = 36
const DASH = 45

interface Table {
  /** Each one more than it is: 0 is free. */
  rows: Int32Array
  used: number
}

/**
 * Numbers documents in the order in which they are added, and finds the number of a guid: 16 bytes a guid and 8 to 16 for
 * finding it, where a Map of a million texts takes 120 MB. Guids as Quoin makes them; another one is not added.
 */
export class GuidIndex {
  #words = new Uint32Array(LEAST * WORDS)
  #size = 0
  readonly #tables: readonly Table[] = Array.from({ length: TABLES }, () => ({
    rows: new Int32Array(0),
    used: 0,
  }))
  readonly #parsed = new Uint32Array(WORDS)

  get size(): number {
    return this.#size
  }

  /** Its number, a new one if it has none yet; -1 for a text that is no guid. */
  add(guid: string): number {
    const known = this.rowOf(guid)
    if (known >= 0 || !parse(guid, this.#parsed)) return known
    const hash = hashOf(this.#parsed, 0)
    const table = this.#tables[hash % TABLES]
    if (table === undefined) return -1
    if ((table.used + 1) * 2 > table.rows.length) this.#grow(table)
    if ((this.#size + 1) * WORDS > this.#words.length) {
      const longer = new Uint32Array(Math.ceil(this.#size * 1.5) * WORDS)
      longer.set(this.#words)
      this.#words = longer
    }
    this.#words.set(this.#parsed, this.#size * WORDS)
    this.#size += 1
    table.rows[this.#placeIn(table.rows, hash)] = this.#size
    table.used += 1
    return this.#size - 1
  }

  /** -1 if it has none. */
  rowOf(guid: string): number {
    if (!parse(guid, this.#parsed)) return -1
    const hash = hashOf(this.#parsed, 0)
    const rows = this.#tables[hash % TABLES]?.rows
    return rows === undefined || rows.length === 0 ? -1 : (rows[this.#placeIn(rows, hash)] ?? 0) - 1
  }

  guidOf(row: number): string {
    let text = ''
    for (let word = 0; word < WORDS; word++)
      text += (this.#words[row * WORDS + word] ?? 0).toString(16).padStart(8, '0')
    return `${text.slice(0, 8)}-${text.slice(8, 12)}-${text.slice(12, 16)}-${text.slice(16, 20)}-${text.slice(20)}`
  }

  /** As their texts are ordered by their characters: negative if the first one is the lesser. */
  compare(a: number, b: number): number {
    for (let word = 0; word < WORDS; word++) {
      const difference = (this.#words[a * WORDS + word] ?? 0) - (this.#words[b * WORDS + word] ?? 0)
      if (difference !== 0) return difference
    }
    return 0
  }

  /** Where the guid that was parsed stands, or would. */
  #placeIn(rows: Int32Array, hash: number): number {
    const mask = rows.length - 1
    for (let place = (hash >>> 10) & mask; ; place = (place + 1) & mask) {
      const row = rows[place] ?? 0
      if (row === 0 || this.#isParsed(row - 1)) return place
    }
  }

  #isParsed(row: number): boolean {
    for (let word = 0; word < WORDS; word++)
      if (this.#words[row * WORDS + word] !== this.#parsed[word]) return false
    return true
  }

  #grow(table: Table): void {
    const before = table.rows
    const mask = Math.max(LEAST, before.length * 2) - 1
    table.rows = new Int32Array(mask + 1)
    for (const row of before) {
      if (row === 0) continue
      let place = (hashOf(this.#words, (row - 1) * WORDS) >>> 10) & mask
      while (table.rows[place] !== 0) place = (place + 1) & mask
      table.rows[place] = row
    }
  }
}

/** The last bytes of a guid are random, also of those that are made in one millisecond. */
function hashOf(words: Uint32Array, at: number): number {
  return Math.imul((words[at + 3] ?? 0) ^ Math.imul(words[at + 2] ?? 0, 0x9e3779b1), 0x85ebca6b) >>> 0
}

/** Whether the text is 32 lower-case hex digits with dashes at their places. */
function parse(guid: string, into: Uint32Array): boolean {
  if (guid.length !== LENGTH) return false
  let digits = 0
  let word = 0
  for (let at = 0; at < LENGTH; at++) {
    const code = guid.charCodeAt(at)
    if (DASHES.has(at)) {
      if (code !== DASH) return false
      continue
    }
    const digit = code >= 48 && code <= 57 ? code - 48 : code >= 97 && code <= 102 ? code - 87 : -1
    if (digit < 0) return false
    word = (word << 4) | digit
    digits += 1
    if (digits % 8 === 0) into[digits / 8 - 1] = word >>> 0
  }
  return true
}
