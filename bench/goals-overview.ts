/** Every goal with what was measured last, read from the tables of the report: also those that take minutes and are measured by name. */
import type { Goal } from './alone/goal.ts'

/** Columns that show what was measured, by the names in the heads of the tables. */
const FIGURES = ['ratio (least–most)', 'measured', 'extra memory', 'frame p95']

interface ReportedGoal {
  readonly section: string
  readonly title: string
  readonly figure: string
  /** With "met" or "missed" at its end. */
  readonly goal: string
}

/** One line for each goal, the missed ones first. */
export function goalsOverview(report: string, all: readonly Pick<Goal, 'id' | 'title'>[]): readonly string[] {
  const reported = `\n${report}`.split(/\n(?=##? )/).flatMap(goalsIn)
  const missing = all.filter(({ title }) => !reported.some((one) => one.title === title))
  const isMissed = ({ goal, figure }: ReportedGoal) => /missed/.test(goal) || figure === 'void'
  const lineOf = ({ section, title, figure, goal }: ReportedGoal) =>
    `${section}: ${title}: ${figure} (${goal.replaceAll('*', '')})`
  return [
    ...reported.filter(isMissed).map(lineOf),
    ...missing.map(({ id, title }) => `${title}: not measured yet; npm run bench -- --only ${id}`),
    ...reported.filter((one) => !isMissed(one)).map(lineOf),
  ]
}

function goalsIn(section: string): ReportedGoal[] {
  const [heading = '', ...lines] = section.trim().split('\n')
  let head: readonly string[] = []
  return lines.flatMap((line, place) => {
    if (!line.startsWith('|')) return []
    const cells = cellsOf(line)
    if (lines[place + 1]?.startsWith('| ---')) {
      head = cells
      return []
    }
    const goal = cells[head.indexOf('goal')] ?? ''
    const figure = cells[head.findIndex((name) => FIGURES.includes(name))] ?? ''
    if (!/\b(met|missed)\b/.test(goal) && figure !== 'void') return []
    const titles = head[1] === 'Work' ? cells.slice(0, 2) : cells.slice(0, 1)
    return [{ section: heading.replace(/^#+ /, ''), title: titles.join(', '), figure, goal }]
  })
}

function cellsOf(line: string): string[] {
  return line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '').trim())
}
