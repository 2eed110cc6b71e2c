/** What was counted against the limits. */
import type { WorkRow } from './count-work.ts'
import type { Measure, WorkLimits } from './work-limits.ts'

const measures: readonly (readonly [Measure, string])[] = [
  ['statements', 'SQL statements'],
  ['parses', 'JSON texts parsed'],
  ['blocks', 'blocks run'],
  ['commits', 'commits'],
  ['records', 'log records'],
]

/** One sentence for each limit that is exceeded, and for each limit of a row without a count. */
export function exceededLimits(rows: readonly WorkRow[], limits: WorkLimits): string[] {
  const unknown = Object.keys(limits)
    .filter((id) => !rows.some((row) => row.id === id))
    .map((id) => `There is a limit for ${id}, which is not counted.`)
  const exceeded = rows.flatMap(({ id, title, counted }) =>
    measures.flatMap(([measure, name]) => {
      const [found, limit] = [counted[measure], limits[id]?.[measure]]
      if (found === undefined && limit === undefined) return []
      if (found === undefined) return [`There is a limit for ${name} of "${title}", which are not counted.`]
      if (limit === undefined) return [`There is no limit for ${name} of "${title}": ${found} were counted.`]
      return found > limit ? [`"${title}": ${found} ${name}, and at most ${limit} are allowed.`] : []
    }),
  )
  return [...unknown, ...exceeded]
}

/** For the terminal: what was counted, and behind a stroke the limit where that is another number. */
export function workTable(rows: readonly WorkRow[], limits: WorkLimits): string {
  const lines = [
    ['For one request', ...measures.map(([, name]) => name)],
    ...rows.map(({ id, title, counted }) => [
      title,
      ...measures.map(([measure]) => cell(counted[measure], limits[id]?.[measure])),
    ]),
  ]
  const widths = measures.map((_, index) => index + 1).map((column) => widthOf(lines, column))
  const first = widthOf(lines, 0)
  return lines
    .map(([title = '', ...cells]) =>
      [title.padEnd(first), ...cells.map((text, column) => text.padStart(widths[column] ?? 0))].join('  '),
    )
    .join('\n')
}

function widthOf(lines: readonly (readonly string[])[], column: number): number {
  return Math.max(...lines.map((line) => line[column]?.length ?? 0))
}

function cell(counted: number | undefined, limit: number | undefined): string {
  if (counted === undefined) return ''
  return limit === counted ? String(counted) : `${counted} / ${limit ?? 'none'}`
}
