/**
 * Loaded into a server before its program (`NODE_OPTIONS=--import`): it is killed at a statement that changes what is stored, as by `kill -9`
 * at that moment. The file that KILLED_AT names says at which one; while there is none, nothing happens.
 */
import { existsSync, readFileSync } from 'node:fs'
import { Socket } from 'node:net'
import { DatabaseSync, StatementSync } from 'node:sqlite'

/** What the file holds, as JSON. */
export interface KilledAt {
  /** Part of the statement. */
  readonly statement: string
  /** Of PostgreSQL, `behind` is when its answer has come, and nothing has read it. */
  readonly when: 'before' | 'behind'
  /** Part of something that was written before it. */
  readonly written?: string
}

const file = process.env.KILLED_AT ?? ''
let isWritten = false

const kill = () => process.kill(process.pid, 'SIGKILL')

/** `texts`: the statement and its parameters. */
function due(texts: readonly string[]): KilledAt['when'] | undefined {
  if (!existsSync(file)) return undefined
  const { statement, when, written = '' }: KilledAt = JSON.parse(readFileSync(file, 'utf8'))
  isWritten ||= texts.some((text) => text.includes(written))
  return isWritten && texts.some((text) => text.includes(statement)) ? when : undefined
}

function around<T>(texts: readonly string[], work: () => T): T {
  const when = due(texts)
  if (when === 'before') kill()
  const result = work()
  if (when === 'behind') kill()
  return result
}

DatabaseSync.prototype.exec = new Proxy(DatabaseSync.prototype.exec, {
  apply: (exec, self, [sql]: [string]) => around([sql], () => Reflect.apply(exec, self, [sql])),
})
StatementSync.prototype.run = new Proxy(StatementSync.prototype.run, {
  apply(run, self: StatementSync, parameters: readonly unknown[]) {
    const texts = parameters.filter((one) => typeof one === 'string')
    return around([self.sourceSQL, ...texts], () => Reflect.apply(run, self, parameters))
  },
})
Socket.prototype.write = new Proxy(Socket.prototype.write, {
  apply(write, self: Socket, sent: readonly unknown[]) {
    const [bytes] = sent
    const when = Buffer.isBuffer(bytes) ? due([bytes.toString('latin1')]) : undefined
    if (when === 'before') kill()
    if (when === 'behind') self.prependOnceListener('data', kill)
    return Reflect.apply(write, self, sent)
  },
})
