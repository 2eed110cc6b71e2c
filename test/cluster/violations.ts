/** Which promises a storm has broken, in words. */
import type { StormFigures } from './storm.ts'

/** Jobs that a node runs at once: as many may be run again when it is hit. */
const JOBS_AT_ONCE = 10

export function violations(figures: StormFigures): string[] {
  const { notes, ticks, faults, switches, settled } = figures
  const hit = faults.reduce((total, { nodes }) => total + nodes, 0)
  const broken = (is: boolean, what: string) => (is ? [what] : [])
  return [
    ...broken(notes.missing > 0, `${notes.missing} acknowledged notes are gone`),
    ...broken(settled === 'never', 'work was still open long after the storm'),
    ...broken(notes.unhandled > 0, `${notes.unhandled} notes were never handled`),
    ...broken(notes.repeats > hit * JOBS_AT_ONCE, `${notes.repeats} notes were handled again`),
    ...broken(ticks.gaps > 0, `${ticks.gaps} ticks are not in the ledger`),
    ...broken(ticks.doubles > 0, `${ticks.doubles} ticks are in the ledger twice`),
    ...broken(ticks.undone > 0, `${ticks.undone} ticks have no job of their own that is done`),
    ...broken(ticks.strays > 0, `${ticks.strays} jobs of ticks are not in the ledger`),
    ...broken(ticks.unwritten > 0, `${ticks.unwritten} ticks were not run`),
    ...broken(ticks.repeats > hit * JOBS_AT_ONCE, `${ticks.repeats} ticks were run again`),
    ...broken(ticks.schedules < figures.schedules, `only ${ticks.schedules} schedules fired`),
    ...broken(ticks.behind > 0, `a schedule stopped ${ticks.behind} s before the end`),
    ...faults
      .filter(({ recovered }) => recovered.includes('never'))
      .map(({ kind, silent }) => `a node did not serve again: ${kind}\n${silent.join('\n')}`),
    ...switches.wrong.map((what) => `switch: ${what}`),
    ...figures.unexpected.map((what) => `a client was answered ${what}`),
    ...figures.dead.map((what) => `a job died: ${what}`),
  ]
}
