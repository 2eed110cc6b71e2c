/** A connection to SQLite some of whose statements fail, as they do on a full or broken disk. */
import { SqliteConnection, type SqlValue } from '../../../src/storage/sqlite/core/sqlite-connection.ts'
import type { RandomSource } from '../random-source.ts'

const FULL = 13
const IOERR = 10

export class FaultyConnection extends SqliteConnection {
  /** Counts transactions. */
  group = 0
  /** Transactions that were hurt as a whole: not one statement of them failed, but all of it had to go. */
  readonly hurt = new Set<number>()
  readonly #dice: RandomSource
  readonly #share: number
  #undoing = false

  /** `share`: how often a statement fails, 0 to 1. */
  constructor(path: string, dice: RandomSource, share: number) {
    super({ path, readOnly: false, synchronous: 'OFF' })
    this.#dice = dice
    this.#share = share
  }

  override run(sql: string, ...parameters: readonly SqlValue[]): void {
    if (sql === 'BEGIN IMMEDIATE') this.group += 1
    if (sql !== 'ROLLBACK' && this.#dice.chance(this.#share)) this.#failAt(sql)
    this.#undoing = sql === 'ROLLBACK TO segment'
    super.run(sql, ...parameters)
  }

  /** Sometimes SQLite leaves the transaction when a statement fails, sometimes it does not. */
  #failAt(sql: string): never {
    const whole = this.inTransaction && this.#dice.chance(0.3)
    const lone = sql.startsWith('INSERT') || (sql === 'RELEASE segment' && !this.#undoing)
    if (whole || !lone) this.hurt.add(this.group)
    this.#undoing = false
    if (whole) super.run('ROLLBACK')
    const errcode = this.#dice.oneOf([FULL, IOERR])
    throw Object.assign(new Error(`${sql} failed on purpose`), { errcode })
  }
}
