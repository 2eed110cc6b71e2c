/**
 * Several statements that are sent together and cost one round trip. When one fails, PostgreSQL skips the rest:
 * https://www.postgresql.org/docs/18/protocol-flow.html#PROTOCOL-FLOW-PIPELINING. So what stands behind `BEGIN` is never done
 * without it, and a `COMMIT` at the end commits all or is not done.
 *
 * node-postgres gives each query a Sync of its own, and so a round trip; or, with its `pipeline`, one that the statements
 * behind a failed one are done after. This is a query of our own to it: https://node-postgres.com/apis/client#clientquery
 */
import type { Connection, PoolClient } from 'pg'
import { typeParser } from './open-pool.ts'
import type { Row } from './rows.ts'

export interface Statement {
  readonly text: string
  readonly values?: readonly unknown[]
  /** That it is prepared under, made from its text; undefined: it is not prepared. */
  readonly name?: string | undefined
  /** Its rows are wanted. */
  readonly gives?: 'rows'
}

export interface Answer {
  readonly rows: readonly Row[]
  /** How many rows were given or changed. */
  readonly count: number
  /** PostgreSQL's name of what was done, such as `COMMIT`. */
  readonly command: string
}

export interface SentPipeline {
  readonly answers: Promise<readonly Answer[]>
  /** How many of its statements PostgreSQL has said to be done. */
  readonly done: number
}

interface Column {
  readonly name: string
  readonly parse: (text: string) => unknown
}

/** As far as it is known that a connection has them. */
type Prepared = Map<string, 'there' | 'perhaps'>

const preparedOn = new WeakMap<Connection, Prepared>()
/** When a connection last answered. */
const answeredAt = new WeakMap<PoolClient, number>()

/** `milliseconds`: how long the answer may take; the pool's own limit if not given. */
export function sendPipeline(
  client: PoolClient,
  statements: readonly Statement[],
  milliseconds?: number,
): SentPipeline {
  const pipeline = new Pipeline(statements, milliseconds)
  const answers = new Promise<readonly Answer[]>((resolve, reject) => {
    pipeline.callback = (error) => {
      if (error) {
        reject(error)
        return
      }
      answeredAt.set(client, performance.now())
      resolve(pipeline.answers)
    }
  })
  client.query(pipeline)
  return {
    answers,
    get done() {
      return pipeline.answers.length
    },
  }
}

/** Whether the connection has answered within these milliseconds. */
export function hasAnswered(client: PoolClient, within: number): boolean {
  return performance.now() - (answeredAt.get(client) ?? Number.NEGATIVE_INFINITY) < within
}

class Pipeline {
  readonly answers: Answer[] = []
  /** Read by node-postgres, which wraps `callback` too. */
  readonly query_timeout: number | undefined
  callback: (error?: Error | null) => void = () => undefined
  readonly #statements: readonly Statement[]
  readonly #values: readonly (string | null)[][]
  #prepared: Prepared = new Map()
  #columns: readonly Column[] = []
  #rows: Row[] = []
  #failed: Error | undefined

  constructor(statements: readonly Statement[], milliseconds: number | undefined) {
    this.#statements = statements
    this.#values = statements.map(({ values = [] }) => values.map(wireValue))
    this.query_timeout = milliseconds
  }

  submit(connection: Connection): void {
    const prepared = preparedOn.get(connection) ?? new Map()
    preparedOn.set(connection, prepared)
    this.#prepared = prepared
    connection.stream.cork()
    for (const [at, { text, name = '', gives }] of this.#statements.entries()) {
      const known = prepared.get(name)
      if (known === 'perhaps') connection.close({ type: 'S', name }, true)
      if (known !== 'there') connection.parse({ name, text, types: [] }, true)
      // Until the answer is here.
      if (name !== '' && known === undefined) prepared.set(name, 'perhaps')
      connection.bind({ statement: name, values: this.#values[at] ?? [] }, true)
      if (gives) connection.describe({ type: 'P' }, true)
      connection.execute(null, true)
    }
    // The last portal would keep its snapshot, which CREATE INDEX CONCURRENTLY waits for, as long as the transaction rests.
    connection.close({ type: 'P' }, true)
    connection.sync()
    connection.stream.uncork()
  }

  handleRowDescription({ fields }: { readonly fields: readonly Field[] }): void {
    this.#columns = fields.map(({ name, dataTypeID }) => ({ name, parse: typeParser(dataTypeID) }))
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const row: Record<string, unknown> = {}
    try {
      for (const [at, { name, parse }] of this.#columns.entries()) {
        const text = fields[at]
        row[name] = text === null || text === undefined ? null : parse(text)
      }
    } catch (error) {
      this.#failed ??= error instanceof Error ? error : new Error(String(error))
    }
    this.#rows.push(row)
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    const { name } = this.#statements[this.answers.length] ?? {}
    if (name !== undefined) this.#prepared.set(name, 'there')
    // "INSERT 0 1", "UPDATE 1", "COMMIT"
    const words = text.split(' ')
    const count = Number(words.at(-1))
    this.answers.push({ rows: this.#rows, count: Number.isNaN(count) ? 0 : count, command: words[0] ?? '' })
    this.#rows = []
    this.#columns = []
  }

  handleReadyForQuery(): void {
    this.callback(this.#failed)
  }

  handleError(error: Error): void {
    const { name } = this.#statements[this.answers.length] ?? {}
    if (name !== undefined) this.#prepared.set(name, 'perhaps')
    this.callback(error)
  }
}

interface Field {
  readonly name: string
  readonly dataTypeID: number
}

/** A value of a statement as PostgreSQL reads it: https://www.postgresql.org/docs/18/arrays.html#ARRAYS-IO */
function wireValue(value: unknown): string | null {
  if (typeof value === 'string') return value
  if (value === null || value === undefined) return null
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint')
    return String(value)
  if (Array.isArray(value)) return `{${value.map(element).join()}}`
  return JSON.stringify(value)
}

function element(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map(element).join()}}`
  const text = wireValue(value)
  if (text === null) return 'NULL'
  if (text.length > LONG_TEXT) return escapedBytes(text)
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}

/** Replacing makes a text of its own for each match: 4 MB of quotation marks take 200 ms so, and 14 as bytes. */
const LONG_TEXT = 65_536
const [QUOTATION_MARK, BACKSLASH] = [0x22, 0x5c]

function escapedBytes(text: string): string {
  const bytes = Buffer.from(text)
  const escaped = Buffer.allocUnsafe(2 * bytes.length + 2)
  let end = escaped.writeUInt8(QUOTATION_MARK)
  for (const byte of bytes) {
    if (byte === QUOTATION_MARK || byte === BACKSLASH) escaped[end++] = BACKSLASH
    escaped[end++] = byte
  }
  end = escaped.writeUInt8(QUOTATION_MARK, end)
  return escaped.toString('utf8', 0, end)
}
