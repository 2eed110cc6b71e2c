/** The rows of the first table: a pair of candidates whose work is equal, then a fresh and filled pair in turns. */
import { type Candidate, type CandidateStart, startHandWritten, startQuoin } from './candidates.ts'
import { checkEqualReplies, checkEqualWork } from './equal-work.ts'
import { type LoadGenerator, runLoad } from './load.ts'
import { type Measured, measureRow, type Timing, type Void } from './measure.ts'
import { comparedPaths, type Row } from './rows.ts'
import { seed } from './seed.ts'

export async function compareRows(
  chosen: readonly Row[],
  timing: Timing,
  core: number | undefined,
  generate: LoadGenerator = runLoad,
): Promise<readonly (Measured | Void)[]> {
  const compared = await withBoth({ core, reports: 'connections' }, checkEqualWork)
  console.log(`Equal work: ${compared} requests, same replies; both WAL with synchronous = FULL.`)
  return withBoth({ core }, async (ours, theirs) => {
    const [a, b] = [await seed(ours), await seed(theirs)]
    await checkEqualReplies(a, b, ['bench/constant', ...comparedPaths])
    const list: (Measured | Void)[] = []
    for (const row of chosen) {
      console.log(`${row.title} …`)
      list.push(await measureRow(row, a, b, timing, generate))
    }
    return list
  })
}

/** Runs `work` with both candidates, started one after the other, and closes them whatever happens. */
async function withBoth<T>(
  start: CandidateStart,
  work: (ours: Candidate, theirs: Candidate) => Promise<T>,
): Promise<T> {
  const ours = await startQuoin(start)
  try {
    const theirs = await startHandWritten(start)
    try {
      return await work(ours, theirs)
    } finally {
      await theirs.close()
    }
  } finally {
    await ours.close()
  }
}
