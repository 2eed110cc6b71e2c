/** Rows of the first table under the load of wrk, and their section of the report. */
import { compareRows } from '../compare-rows.ts'
import type { Machine } from '../machine.ts'
import type { Timing } from '../measure.ts'
import { readReport, writeSection } from '../report-file.ts'
import type { Row } from '../rows.ts'
import { hasWrkSection, withoutWrk, wrkSection } from './report-wrk.ts'
import { runWrk, wrkVersion } from './wrk.ts'

/** Of each kind one: without a cache where the first table has both. */
export const wrkRows: readonly string[] = ['constant', 'read-new', 'list-new', 'list-unchanged', 'create']

/** False if a row could not be measured. `isWhole`: all rows that the section has. */
export async function benchWithWrk(
  chosen: readonly Row[],
  isWhole: boolean,
  machine: Machine,
  timing: Timing,
  core: number | undefined,
): Promise<boolean> {
  const version = wrkVersion()
  if (version === undefined) {
    console.log('wrk is not installed: its rows are not measured.')
    if (!hasWrkSection(await readReport())) await writeSection(withoutWrk)
    return true
  }
  const outcomes = await compareRows(chosen, timing, core, runWrk)
  const section = wrkSection(outcomes, version, timing, machine)
  console.log(section)
  if (isWhole) await writeSection(section)
  return outcomes.every((outcome) => !('reason' in outcome))
}
