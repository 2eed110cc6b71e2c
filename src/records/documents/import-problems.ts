/** Lines of a file that cannot become documents. */

import { QuoinError } from '../../shared/errors.ts'
import { othersTurn } from '../../shared/others-turn.ts'
import type { Database, Origin } from '../../storage/database.ts'
import { createRows } from './import-batch.ts'
import { type ImportRow, type LineProblem, lineProblem } from './import-rows.ts'

const MOST = 100

export class ProblemList {
  readonly first: LineProblem[] = []
  total = 0

  add({ line }: ImportRow, error: unknown): void {
    const problem = lineProblem(line, error)
    this.total += 1
    if (this.first.length < MOST) this.first.push(problem)
  }

  get isFull(): boolean {
    return this.total >= MOST
  }
}

/** Throws the error of the first line that would be refused; its details list the first 100. Writes nothing. */
export async function tryRows(
  database: Database,
  name: string,
  batches: AsyncIterable<readonly ImportRow[]>,
  origin: Origin,
): Promise<void> {
  const problems = new ProblemList()
  let first: unknown
  for await (const batch of batches) {
    const session = database.session({ ...origin, trial: true })
    try {
      await createRows(session, name, batch, (row, error) => {
        first ??= error
        problems.add(row, error)
      })
    } finally {
      await session.transaction.rollback()
    }
    if (problems.isFull) break
    await othersTurn()
  }
  if (first instanceof QuoinError)
    throw new QuoinError(first.code, first.message, {
      ...(first.fields && { fields: first.fields }),
      details: { lines: problems.first.map((problem) => ({ ...problem })) },
      cause: first,
    })
}
