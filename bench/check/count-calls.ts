/**
 * Counts, while a request is served in this process, what it should do as little of as possible. Nothing here is part of
 * Quoin: the counting functions are put around those of Node and of the engine, and taken off again.
 */
import { DatabaseSync, StatementSync } from 'node:sqlite'
import { RunSteps } from '../../src/flows/run/run-steps.ts'

/** What was done since the last `reset`. */
export interface Calls {
  /** Their text, in order; of several in one `exec` all of it. */
  readonly statements: readonly string[]
  /** Characters of each text that became JSON values. */
  readonly parsed: readonly number[]
  /** Blocks executed, value blocks included. */
  readonly blocks: number
}

export interface CallCounter {
  /** Forgets what was counted. */
  reset(): void
  calls(): Calls
  /** Puts everything back as it was. */
  stop(): void
}

export function countCalls(): CallCounter {
  let statements: string[] = []
  let parsed: number[] = []
  let blocks = 0
  const restore = [
    ...(['run', 'get', 'all', 'iterate'] as const).map((name) =>
      around(StatementSync.prototype, name, (self) => {
        if (self instanceof StatementSync) statements.push(self.sourceSQL)
      }),
    ),
    around(DatabaseSync.prototype, 'exec', (_self, [sql]) => void statements.push(String(sql))),
    around(JSON, 'parse', (_self, [text]) => void parsed.push(String(text).length)),
    around(RunSteps.prototype, 'checkpoint', () => {
      blocks += 1
    }),
  ]
  return {
    reset() {
      statements = []
      parsed = []
      blocks = 0
    },
    calls: () => ({ statements: [...statements], parsed: [...parsed], blocks }),
    stop() {
      for (const one of restore) one()
    },
  }
}

/** Has `before` told of each call of a method. Gives what ends that. */
function around(
  owner: object,
  name: string,
  before: (self: unknown, input: readonly unknown[]) => void,
): () => void {
  const original: unknown = Reflect.get(owner, name)
  if (typeof original !== 'function') throw new TypeError(`There is no function ${name} to count.`)
  Reflect.set(owner, name, function counted(this: unknown, ...input: unknown[]): unknown {
    before(this, input)
    return Reflect.apply(original, this, input)
  })
  return () => void Reflect.set(owner, name, original)
}
