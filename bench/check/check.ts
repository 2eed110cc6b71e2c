/** npm run bench -- --check: has any kind of request come to do more than it may? */
import { exceededLimits, workTable } from './compare-work.ts'
import { countWork } from './count-work.ts'
import { workLimits } from './work-limits.ts'

/** Prints what was counted. False if it is more than the limits. */
export async function checkWork(): Promise<boolean> {
  const rows = await countWork()
  console.log(workTable(rows, workLimits))
  const exceeded = exceededLimits(rows, workLimits)
  for (const sentence of exceeded) console.error(sentence)
  if (exceeded.length > 0)
    console.error('If it has to be so, raise the limit in bench/check/work-limits.ts and say why.')
  return exceeded.length === 0
}
