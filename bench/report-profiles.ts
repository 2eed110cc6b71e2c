import type { Machine } from './machine.ts'
import type { RowProfile } from './profile.ts'
import { linesBelow } from './report-lines.ts'

const HEADING = '## Where the processor time goes'
const heads = ['On', 'Work', 'functions by their own time', 'when']

/** For the terminal. */
export function profileLines({ engine, row, functions }: RowProfile): string {
  const lines = functions.map(({ name, share }) => `${(share * 100).toFixed(1).padStart(6)} %  ${name}`)
  return `${row.title}, ${engine}:\n${lines.join('\n')}`
}

/** The section with these lines in place of those of the same works in `report`, in the order of `order`. */
export function profilesSection(
  profiles: readonly RowProfile[],
  report: string,
  order: readonly string[],
  { date, commit }: Pick<Machine, 'date' | 'commit'>,
): string {
  const lines = new Map(linesBelow(report, HEADING, 2))
  for (const profile of profiles) {
    const { engine, row, functions } = profile
    const shown = functions.map(({ name, share }) => `\`${name}\` ${(share * 100).toFixed(1)} %`).join(', ')
    lines.set(
      `${engine} | ${row.title}`,
      `| ${[engine, row.title, shown, `${date}, ${commit}`].join(' | ')} |`,
    )
  }
  const place = (key: string) => order.findIndex((title) => key.endsWith(` | ${title}`))
  const sorted = [...lines].toSorted(
    ([a], [b]) => (a.split(' | ')[0] ?? '').localeCompare(b.split(' | ')[0] ?? '') || place(a) - place(b),
  )
  return `${HEADING}

Of the rows that missed their goal: the ten functions of the server with the most time of their own, as shares of the time in which its main
thread was busy. \`npm run bench -- --only <row> --profile\` prints and writes these lines for a row, \`npm run bench -- --profile\` for all rows.

| ${heads.join(' | ')} |
| ${heads.map(() => '---').join(' | ')} |
${sorted.map(([, line]) => line).join('\n')}

V8's sampling profiler looks every 0.25 ms. \`(program)\` is native code without a name of its own, \`(native)\` a function of Node that is
written in C++, with the system calls in it: \`all\`, \`get\` and \`run\` are SQLite's statements.
`
}
