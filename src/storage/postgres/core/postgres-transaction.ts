/**
 * A transaction that takes as few round trips as it can. `BEGIN` is sent with the first statement, and writes that nothing
 * waits for are sent with the next statement or with `COMMIT`. So one such write is one round trip, and the transaction has a
 * connection for no longer than that. What is one trip from beginning to end needs neither `BEGIN` nor `COMMIT`: PostgreSQL
 * commits it at the end of the trip, as a whole or not at all.
 *
 * A connection that has rested may be dead and nothing has said so. What is sent before a commit is sent again on another
 * one; behind it the outcome would be unknown. So a commit goes with all the rest only where the connection has just
 * answered, and else in a trip of its own.
 */
import { QuoinError } from '../../../shared/errors.ts'
import { Unconfirmed } from '../../unit-of-work.ts'
import type { GroupCommit } from './group-commit.ts'
import { type LateAnswers, NO_TIMEOUT } from './late-answers.ts'
import { type Endings, scriptOn, type TakenConnection, type Use } from './open-pool.ts'
import { type Answer, hasAnswered, type Statement, sendPipeline } from './pipeline.ts'
import { isConnectionLost, isFarewell, storageError } from './postgres-errors.ts'
import type { PostgresConnection, Row } from './rows.ts'

/** A write that the transaction sends at the latest before its next statement. Nothing but the database can refuse it. */
export interface Deferred {
  /** As it is to be by now; undefined if one statement is no longer enough. */
  statement(): Statement | undefined
  /** Does the write with as many statements as it takes. May throw CONFLICT. */
  perform(): Promise<void>
  /** As `statement`, in a form that waits for no lock of another transaction; undefined if there is none. */
  unwaiting?(): Statement | undefined
}

export interface PostgresTransaction extends PostgresConnection, Endings {
  /** Several statements without values, one after the other. */
  script(text: string): Promise<void>
  defer(write: Deferred): void
  /** As it is sent. */
  statement(text: string, values: readonly unknown[]): Statement
  /** Whether a deferred write has not been sent. */
  readonly defers: boolean
  /** Sends the deferred writes. */
  flush(): Promise<void>
  /** A deferred write was refused after all. What the transaction has done must not be committed. */
  readonly isSpoiled: boolean
}

export interface TransactionParts {
  /** Gives a connection of the pool. */
  readonly take: (use: Use) => Promise<TakenConnection>
  /** Does it again while connections prove to be dead. */
  readonly onALivingOne: <T>(ask: () => Promise<T>) => Promise<T>
  readonly late: LateAnswers
  readonly shared: GroupCommit
  readonly statement: (text: string, values?: readonly unknown[]) => Statement
  /** `BEGIN`, and what belongs to it. */
  readonly begin: readonly string[]
  /** Called around sending deferred writes, from when it is decided how they are written. */
  readonly during: <T>(sending: Promise<T>) => Promise<T>
  /** How long ago a connection may have answered to be taken as living. */
  readonly restMs: number
}

const COMMIT: Statement = { text: 'COMMIT' }

/** That of one trip without it: https://www.postgresql.org/docs/18/protocol-flow.html#PROTOCOL-FLOW-PIPELINING */
function isPlain([first, second]: readonly Statement[]): boolean {
  return first?.text === 'BEGIN' && second === undefined
}

export function postgresTransaction(parts: TransactionParts): PostgresTransaction {
  return new LazyTransaction(parts)
}

/** What can only fail where everything fails. */
export function sendSoon(transaction: PostgresTransaction, text: string): void {
  transaction.defer({
    statement: () => transaction.statement(text, []),
    perform: async () => void (await transaction.run(text)),
  })
}

class LazyTransaction implements PostgresTransaction {
  readonly #parts: TransactionParts
  /** Has begun on it. */
  #taken: TakenConnection | undefined
  #beginning: Promise<unknown> | undefined
  #deferred: Deferred[] = []
  #over = false
  isSpoiled = false

  constructor(parts: TransactionParts) {
    this.#parts = parts
  }

  async rows(text: string, values?: readonly unknown[]): Promise<readonly Row[]> {
    return (await this.#ask({ ...this.#parts.statement(text, values), gives: 'rows' })).rows
  }

  async run(text: string, values?: readonly unknown[]): Promise<number> {
    return (await this.#ask(this.#parts.statement(text, values))).count
  }

  async script(text: string): Promise<void> {
    await this.#send([])
    if (this.#taken) await scriptOn(this.#taken.client, text)
  }

  defer(write: Deferred): void {
    this.#deferred.push(write)
  }

  statement(text: string, values: readonly unknown[]): Statement {
    return this.#parts.statement(text, values)
  }

  get defers(): boolean {
    return this.#deferred.length > 0
  }

  async flush(): Promise<void> {
    if (this.defers) await this.#send([])
  }

  async commit(): Promise<void> {
    if (this.#over) throw new Error('The transaction is over.')
    if (this.#taken === undefined && !this.defers) {
      this.#over = true
      return
    }
    if (await this.#commitShared()) return
    const taken = this.#taken ?? (await this.#parts.take('brief'))
    const begin = this.#taken ? [] : this.#begin
    const writes = leading(this.#deferred)
    const isLiving = this.#taken !== undefined || hasAnswered(taken.client, this.#parts.restMs)
    if (isLiving && writes.length === this.#deferred.length) {
      const deferred = this.#deferred
      if (await this.#commitOn(taken, isPlain(begin) ? undefined : begin, writes)) return
      this.#over = false
      this.#deferred = deferred
    } else if (this.#taken === undefined) taken.release(false)
    await this.#send([])
    await this.commit()
  }

  async rollback(): Promise<void> {
    this.#over = true
    this.#deferred = []
    await this.#beginning?.catch(() => undefined)
    const taken = this.#taken
    this.#taken = undefined
    if (taken === undefined) return
    try {
      await taken.client.query('ROLLBACK')
      taken.release(false)
    } catch {
      taken.release(true)
    }
  }

  get #begin(): Statement[] {
    return this.#parts.begin.map((text) => this.#parts.statement(text))
  }

  /** With those of other sessions; false when it is to be sent by itself, and nothing of it was. */
  async #commitShared(): Promise<boolean> {
    const deferred = this.#deferred
    if (this.#taken !== undefined || !isPlain(this.#begin)) return false
    if (!deferred.every(({ unwaiting }) => unwaiting)) return false
    this.#over = true
    this.#over = await this.#parts.shared.join({
      statements: () => allOf(deferred.map(({ unwaiting }) => unwaiting?.())),
      sending: (sent) => void this.#during(true, sent),
    })
    if (this.#over) this.#deferred = []
    return this.#over
  }

  async #ask(statement: Statement): Promise<Answer> {
    const answer = (await this.#send([statement])).at(-1)
    if (answer === undefined) throw new TypeError('PostgreSQL has answered nothing.')
    return answer
  }

  /** The deferred writes, then these statements, in one trip if possible. */
  async #send(statements: readonly Statement[]): Promise<readonly Answer[]> {
    if (this.#over) throw new Error('The transaction is over.')
    let deferred = this.#deferred
    this.#deferred = []
    for (;;) {
      let sent = 0
      const answers = await this.#pipeline(deferred.length > 0, () => {
        const writes = leading(deferred)
        sent = writes.length
        return sent === deferred.length ? [...writes, ...statements] : writes
      })
      const next = deferred[sent]
      if (next === undefined) return answers
      await next.perform().catch((error: unknown) => {
        this.isSpoiled = true
        throw error
      })
      deferred = deferred.slice(sent + 1)
    }
  }

  async #pipeline(defers: boolean, statements: () => readonly Statement[]): Promise<readonly Answer[]> {
    await this.#beginning
    const taken = this.#taken
    try {
      if (taken === undefined) {
        const begun = this.#parts.onALivingOne(() => this.#first(defers, statements))
        this.#beginning = begun.catch(() => undefined)
        return await begun
      }
      const all = statements()
      return all.length === 0 ? [] : await this.#during(defers, sendPipeline(taken.client, all).answers)
    } catch (error) {
      throw storageError(error)
    }
  }

  async #first(defers: boolean, statements: () => readonly Statement[]): Promise<readonly Answer[]> {
    const taken = await this.#parts.take('held')
    const begin = this.#begin
    const sent = sendPipeline(taken.client, [...begin, ...statements()])
    try {
      const answers = await this.#during(defers, sent.answers)
      this.#taken = taken
      return answers.slice(begin.length)
    } catch (error) {
      if (sent.done < begin.length || isConnectionLost(error)) taken.release(true)
      else this.#taken = taken
      throw storageError(error)
    }
  }

  /**
   * False when the server had ended the connection before it saw any of this, so that it can be sent on another one. Without
   * `begin` the trip is a transaction by itself, which PostgreSQL commits at its end.
   */
  async #commitOn(
    { client, release }: TakenConnection,
    begin: readonly Statement[] | undefined,
    writes: readonly Statement[],
  ): Promise<boolean> {
    const { defers } = this
    this.#over = true
    this.#taken = undefined
    this.#deferred = []
    const sent = sendPipeline(client, begin ? [...begin, ...writes, COMMIT] : writes, NO_TIMEOUT)
    const asked = this.#during(defers, sent.answers)
    try {
      const answers = await this.#parts.late.within(client, asked, release)
      if (begin === undefined || answers.at(-1)?.command === 'COMMIT') return true
    } catch (error) {
      // Its answers come in order: it has not begun what it says farewell before.
      if (isFarewell(error) && sent.done < (begin ?? writes.slice(0, 1)).length) return false
      throw isConnectionLost(error) ? new Unconfirmed(error) : storageError(error)
    }
    // What PostgreSQL answers to the COMMIT of a transaction in which something failed.
    throw new QuoinError('UNAVAILABLE', 'The transaction was undone by the database. Try again.')
  }

  #during<T>(defers: boolean, sending: Promise<T>): Promise<T> {
    return defers ? this.#parts.during(sending) : sending
  }
}

function allOf(statements: readonly (Statement | undefined)[]): readonly Statement[] | undefined {
  const all = statements.filter((one) => one !== undefined)
  return all.length === statements.length ? all : undefined
}

/** Of the first writes, as far as one statement each is enough. */
function leading(writes: readonly Deferred[]): Statement[] {
  const statements: Statement[] = []
  for (const write of writes) {
    const statement = write.statement()
    if (statement === undefined) break
    statements.push(statement)
  }
  return statements
}
