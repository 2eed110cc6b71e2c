import { MIB } from './large-bodies.ts'
import type { MemoryRow } from './memory.ts'

const HEADING = '## Memory'

const heads = ['Work', 'reply', 'extra memory', 'goal', 'rate']

function cells({ title, status, extra, goal, seconds, amount, unit }: MemoryRow): readonly string[] {
  const unknown = Number.isNaN(extra)
  return [
    title,
    String(status),
    unknown ? 'unknown' : `+${Math.max(0, Math.round(extra))} MB`,
    goal === undefined ? '' : `≤ ${goal} MB ${unknown ? '' : extra <= goal ? 'met' : 'missed'}`.trim(),
    amount === 0 ? 'refused' : `${Math.round(amount / seconds).toLocaleString('en-US')} ${unit}/s`,
  ]
}

/** For the terminal. */
export function memoryLines(rows: readonly MemoryRow[]): string {
  return rows
    .map((row) => {
      const [title, status, extra, goal, rate] = cells(row)
      return `${title}: ${status}, ${extra} memory${goal === '' ? '' : ` (${goal})`}, ${rate}`
    })
    .join('\n')
}

/** The section of the report, up to the next heading. `date` and `commit`: it can be measured by itself. */
export function memorySection(
  rows: readonly MemoryRow[],
  { date, commit }: { readonly date: string; readonly commit: string },
): string {
  const lines = [heads, heads.map(() => '---'), ...rows.map(cells)].map((line) => `| ${line.join(' | ')} |`)
  return `${HEADING}

The cost of large bodies: the peak memory of the server's process during the work, less its memory before
(\`VmHWM\` and \`VmRSS\` of \`/proc/<pid>/status\`). \`npm run bench -- --only memory\` measures this alone.

${lines.join('\n')}

A megabyte has ${MIB.toLocaleString('en-US')} bytes. Each row has a server of its own, freshly started, that has had one small body of the
same kind before. The upload that is too large says no length, so that the server has to count; afterwards no file of it
is left. The memory of an upload does not grow with its size: from 100 MB on it is the same, nearly all of it garbage that V8 has
not collected yet. The lines are the tasks of the table above, each checked and then written and indexed,
in durable batches. Measured on ${date}, commit ${commit}.
`
}

/** The report with this section in place of the one with its heading, or at its end. */
export function withSection(report: string, section: string): string {
  const heading = section.slice(0, section.indexOf('\n'))
  const start = report.indexOf(`${heading}\n`)
  if (start < 0) return `${report.trimEnd()}\n\n${section}`
  const end = report.indexOf('\n## ', start)
  return report.slice(0, start) + section + (end < 0 ? '' : report.slice(end))
}
